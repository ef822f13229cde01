import type { TextObservation } from '../environment.ts';
import type { World } from '../world.ts';
import { feedback, spaced, TRIES } from './feedback.ts';

/** Wordle with a hidden word that stays the same. Six tries, an invalid word costs one; reward 1 for the word. */
export class WordleWorld implements World {
  readonly opening = "Let's start Wordle!";
  readonly #words: readonly string[];
  readonly #hidden: string;
  #tries = 0;

  constructor(words: readonly string[], hidden: string) {
    this.#words = words;
    this.#hidden = hidden;
  }

  act(action: string): TextObservation {
    this.#tries++;
    const done = this.#tries >= TRIES;
    // "shire" is as good as "s h i r e": spaces are layout.
    const guess = action.toLowerCase().replaceAll(' ', '');
    if (!this.#words.includes(guess)) return { text: 'invalid word', reward: 0, done };
    const text = spaced(feedback(guess, this.#hidden));
    return guess === this.#hidden ? { text, reward: 1, done: true } : { text, reward: 0, done };
  }

  availableActions(): string[] {
    return this.#words.map(spaced);
  }
}
