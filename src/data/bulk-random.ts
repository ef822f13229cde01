import type { Rng } from '../core/index.ts';

/**
 * Random numbers by the hundred thousand (one per pixel and channel): Chris Doty-Humphrey's sfc32, seeded from
 * an Rng. Rng itself draws two words per number through a generator object, which costs more than the image.
 */
export class BulkRandom {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;
  #spare = 0;
  #hasSpare = false;

  constructor(rng: Rng) {
    this.#a = rng.uint32() | 0;
    this.#b = rng.uint32() | 0;
    this.#c = rng.uint32() | 0;
    for (let i = 0; i < 12; i++) this.uint32();
  }

  uint32(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** Uniform in [0, 1), 32 random bits. */
  uniform(): number {
    return this.uint32() / 4294967296;
  }

  /** Standard normal (Box-Muller, both values used). */
  normal(): number {
    if (this.#hasSpare) {
      this.#hasSpare = false;
      return this.#spare;
    }
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    const angle = 2 * Math.PI * this.uniform();
    this.#spare = radius * Math.sin(angle);
    this.#hasSpare = true;
    return radius * Math.cos(angle);
  }
}
