import { createHash } from 'node:crypto';
import { xoroshiro128plus, xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus';

/** The whole state of an Rng: four 32-bit integers of the generator and the spare normal, if any. */
export interface RngState {
  words: number[];
  spareNormal: number | null;
}

/**
 * A seeded random source: same seed, same numbers, on every machine. `fork` derives independent streams by
 * name, so that adding a draw in one place shifts nothing elsewhere. The state is plain data for checkpoints.
 */
export class Rng {
  #generator: ReturnType<typeof xoroshiro128plus>;
  #spareNormal: number | null = null;
  readonly #seed: string;

  constructor(seed: number | string) {
    this.#seed = String(seed);
    const digest = createHash('sha256').update(this.#seed).digest();
    this.#generator = xoroshiro128plus(digest.readInt32LE(0));
    // Fold in further words: a 32-bit seed alone would make unrelated names collide.
    this.#generator = xoroshiro128plusFromState([
      digest.readInt32LE(4) | 1,
      digest.readInt32LE(8),
      digest.readInt32LE(12),
      digest.readInt32LE(16),
    ]);
  }

  /** An independent stream that depends only on this stream's seed and the names, not on draws made so far. */
  fork(...names: (string | number)[]): Rng {
    return new Rng(`${this.#seed}/${names.join('/')}`);
  }

  /** A 32-bit unsigned integer. */
  uint32(): number {
    return this.#generator.next() >>> 0;
  }

  /** Uniform in [low, high), 53 random bits. */
  uniform(low = 0, high = 1): number {
    const a = this.uint32() >>> 5;
    const b = this.uint32() >>> 6;
    return low + (high - low) * ((a * 67108864 + b) / 9007199254740992);
  }

  /** Integer in [0, bound). */
  integer(bound: number): number {
    return Math.floor(this.uniform() * bound);
  }

  /** Normal with the given mean and standard deviation (Box-Muller, both values used). */
  normal(mean = 0, std = 1): number {
    if (this.#spareNormal !== null) {
      const z = this.#spareNormal;
      this.#spareNormal = null;
      return mean + std * z;
    }
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    const angle = 2 * Math.PI * this.uniform();
    this.#spareNormal = radius * Math.sin(angle);
    return mean + std * radius * Math.cos(angle);
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError('Rng.pick: the list is empty');
    return items[this.integer(items.length)] as T;
  }

  /** A new list in random order (Fisher-Yates). */
  shuffle<T>(items: readonly T[]): T[] {
    const result = [...items];
    for (let i = result.length - 1; i > 0; i--) {
      const j = this.integer(i + 1);
      [result[i], result[j]] = [result[j] as T, result[i] as T];
    }
    return result;
  }

  state(): RngState {
    return { words: [...this.#generator.getState()], spareNormal: this.#spareNormal };
  }

  restore(state: RngState): void {
    this.#generator = xoroshiro128plusFromState(state.words);
    this.#spareNormal = state.spareNormal;
  }
}
