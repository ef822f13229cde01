import type { Rng } from '../core/index.ts';

/**
 * Indices of one step's batch. Each epoch is a fresh permutation; the order is a pure function of seed and
 * step, so a resumed run needs no cursor and sees what an undisturbed one would have seen.
 */
export class DataOrder {
  readonly #rng: Rng;
  readonly #count: number;
  #epoch = -1;
  #permutation: number[] = [];

  constructor(rng: Rng, count: number) {
    if (count < 1) throw new RangeError(`DataOrder: got ${count} examples, at least 1 is needed`);
    this.#rng = rng;
    this.#count = count;
  }

  /** The example at a position of the endless stream of epochs. */
  at(position: number): number {
    const epoch = Math.floor(position / this.#count);
    if (epoch !== this.#epoch) {
      const identity = Array.from({ length: this.#count }, (_, index) => index);
      this.#permutation = this.#rng.fork('epoch', epoch).shuffle(identity);
      this.#epoch = epoch;
    }
    return this.#permutation[position % this.#count] as number;
  }

  batch(step: number, size: number): number[] {
    return Array.from({ length: size }, (_, offset) => this.at(step * size + offset));
  }
}
