export const LETTERS = 5;
export const TRIES = 6;

/**
 * Feedback on a guess, a letter per position: g the same letter here, y a letter that the word has elsewhere, b
 * none. As LMRL-Gym has it, each position for itself: a letter that the word has once and the guess twice is not
 * counted down.
 */
export function feedback(guess: string, hidden: string): string {
  return [...guess]
    .map((letter, i) => (hidden[i] === letter ? 'g' : hidden.includes(letter) ? 'y' : 'b'))
    .join('');
}

/** A word as the game writes it: "s h i r e". */
export const spaced = (word: string): string => [...word].join(' ');
