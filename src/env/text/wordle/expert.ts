import { feedback, TRIES } from './feedback.ts';

export interface Guess {
  word: string;
  /** Words that were possible before the guess. */
  possible: number;
}

/** Entropy in bits of the feedback on a guess, the hidden word being each of `possible` with equal chance. */
export function feedbackEntropy(guess: string, possible: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const word of possible) {
    const answer = feedback(guess, word);
    counts.set(answer, (counts.get(answer) ?? 0) + 1);
  }
  let bits = 0;
  for (const count of counts.values()) {
    const share = count / possible.length;
    bits -= share * Math.log2(share);
  }
  return bits;
}

/** The guess of greatest entropy; of equals one that may be the word itself, then the first of the list. */
function bestGuess(words: readonly string[], possible: readonly string[]): string {
  let best = { word: possible[0] as string, bits: -1, candidate: false };
  const candidates = new Set(possible);
  for (const word of words) {
    const bits = feedbackEntropy(word, possible);
    const candidate = candidates.has(word);
    const better = bits > best.bits + 1e-9 || (bits > best.bits - 1e-9 && candidate && !best.candidate);
    if (better) best = { word, bits, candidate };
  }
  return best.word;
}

/** What is known after some answers: the words that agree with them, and the guess to make next. */
interface Position {
  possible: readonly string[];
  word: string;
}

/**
 * An entropy-greedy player of one vocabulary; null where six tries do not find the word. It keeps the positions that
 * it has met, at most one for each word and try, so that games after the first cost little.
 */
export function createWordleExpert(words: readonly string[]): (hidden: string) => Guess[] | null {
  const met = new Map<string, Position>();
  const positionAfter = (answers: string, possible: () => readonly string[]): Position => {
    const known = met.get(answers);
    if (known !== undefined) return known;
    const open = possible();
    const position = { possible: open, word: bestGuess(words, open) };
    met.set(answers, position);
    return position;
  };
  return (hidden) => {
    let answers = '';
    let position = positionAfter(answers, () => words);
    const guesses: Guess[] = [];
    while (guesses.length < TRIES) {
      const { word, possible } = position;
      guesses.push({ word, possible: possible.length });
      if (word === hidden) return guesses;
      const answer = feedback(word, hidden);
      answers += answer;
      position = positionAfter(answers, () => possible.filter((one) => feedback(word, one) === answer));
    }
    return null;
  };
}
