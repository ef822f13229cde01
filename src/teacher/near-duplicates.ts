import { runsOf } from './text-measures.ts';

/** MinHash values of a text, and how they are cut into bands (Broder 1997; Leskovec et al., MMDS, ch. 3). */
const HASHES = 120;
/** A pair exactly at the threshold may be overlooked this rarely. */
const MISSED = 1e-4;

/** The largest number of rows in a band with which a pair at the threshold t is found: 1 - (1 - t^r)^(HASHES / r). */
function rowsFor(threshold: number): number {
  for (let rows = 8; rows > 1; rows--) {
    if ((1 - threshold ** rows) ** Math.floor(HASHES / rows) <= MISSED) return rows;
  }
  return 1;
}

/** FNV-1a over UTF-16 units, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** Odd multipliers and offsets: h_k(x) = a_k x + b_k mod 2^32, mixed. */
const MIXERS = Array.from({ length: HASHES }, (_, k) => ({
  factor: (Math.imul(k + 1, 0x9e3779b1) | 1) >>> 0,
  offset: hashOf(`offset ${k}`),
}));

function sketchOf(runs: ReadonlySet<string>): number[] {
  const least = new Array<number>(HASHES).fill(0xffffffff);
  for (const run of runs) {
    const base = hashOf(run);
    for (let k = 0; k < HASHES; k++) {
      const { factor, offset } = MIXERS[k]!;
      let value = (Math.imul(base, factor) + offset) >>> 0;
      value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d) >>> 0;
      value = (value ^ (value >>> 13)) >>> 0;
      if (value < least[k]!) least[k] = value;
    }
  }
  return least;
}

/** Share of the runs of two texts that both have: |A and B| / |A or B| (Jaccard). 0 where both are empty. */
export function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let common = 0;
  for (const run of a) if (b.has(run)) common++;
  const all = a.size + b.size - common;
  return all === 0 ? 0 : common / all;
}

export const runSet = (text: string): Set<string> => new Set(runsOf(text));

/**
 * Texts kept so far, to find those that a new one nearly repeats. Candidates come from MinHash bands of as many
 * rows as the threshold allows (five for 0.8: a pair of that similarity is found with probability
 * 1 - (1 - 0.8^5)^24 = .99993); what is found is compared exactly. The answer depends on the order of the texts alone.
 */
export class NearDuplicates {
  readonly #threshold: number;
  readonly #rows: number;
  readonly #texts: { name: string; runs: ReadonlySet<string> }[] = [];
  readonly #bands = new Map<string, number[]>();

  constructor(threshold: number) {
    this.#threshold = threshold;
    this.#rows = rowsFor(threshold);
  }

  /** Keeps the text unless it nearly repeats a kept one, whose name and similarity it then returns. */
  add(name: string, text: string): { name: string; similarity: number } | undefined {
    const runs = runSet(text);
    const sketch = sketchOf(runs);
    const rows = this.#rows;
    const bands = Array.from(
      { length: Math.floor(HASHES / rows) },
      (_, band) => `${band}:${sketch.slice(band * rows, (band + 1) * rows).join()}`,
    );
    const candidates = new Set(bands.flatMap((band) => this.#bands.get(band) ?? []));
    for (const at of [...candidates].sort((a, b) => a - b)) {
      const other = this.#texts[at]!;
      // Two sets whose sizes differ more cannot be that similar.
      const [less, more] = [runs.size, other.runs.size].sort((a, b) => a - b) as [number, number];
      if (less < this.#threshold * more) continue;
      const value = similarity(runs, other.runs);
      if (value >= this.#threshold) return { name: other.name, similarity: value };
    }
    const at = this.#texts.push({ name, runs }) - 1;
    for (const band of bands) {
      const same = this.#bands.get(band);
      if (same === undefined) this.#bands.set(band, [at]);
      else same.push(at);
    }
    return undefined;
  }
}
