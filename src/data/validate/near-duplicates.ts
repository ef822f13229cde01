import { hashDistance, hashWords } from './perceptual-hash.ts';

/**
 * All pairs (i < j) of hashes at most `most` bits apart. Two such hashes agree wholly in one of most + 1 bands, so
 * only members of one bucket are compared: near linear in the number of hashes. Null entries take no part, nor do
 * pairs for which `isExpected` is true.
 */
export function nearPairs(
  hashes: readonly (string | null)[],
  most: number,
  isExpected: (i: number, j: number) => boolean = () => false,
): [i: number, j: number, distance: number][] {
  const words = hashes.map((hash) => (hash === null ? null : hashWords(hash)));
  const bands = bandsOf(most + 1);
  const pairs: [i: number, j: number, distance: number][] = [];
  for (const [number, band] of bands.entries()) {
    const buckets = new Map<number, number[]>();
    for (const [i, word] of words.entries()) {
      if (word === null) continue;
      const key = bandValue(word, band);
      const bucket = buckets.get(key);
      if (bucket === undefined) buckets.set(key, [i]);
      else bucket.push(i);
    }
    for (const bucket of buckets.values()) {
      for (let a = 0; a < bucket.length; a++) {
        for (let b = a + 1; b < bucket.length; b++) {
          const [i, j] = [bucket[a]!, bucket[b]!];
          const distance = hashDistance(words[i]!, words[j]!);
          if (distance > most || isExpected(i, j)) continue;
          // Found already by an earlier band?
          const seen = bands
            .slice(0, number)
            .some((one) => bandValue(words[i]!, one) === bandValue(words[j]!, one));
          if (!seen) pairs.push([i, j, distance]);
        }
      }
    }
  }
  return pairs.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}

type Band = readonly [from: number, to: number];

const bandsOf = (count: number): Band[] =>
  Array.from({ length: count }, (_, i) => [Math.floor((64 * i) / count), Math.floor((64 * (i + 1)) / count)]);

/** Bits [from, to) of a hash as a number. Beyond 53 bits unequal bands may share one, which costs time only. */
function bandValue(words: readonly [number, number], [from, to]: Band): number {
  let value = 0;
  for (let bit = from; bit < to; bit++) {
    const word = words[bit >> 5]!;
    value = (value * 2 + ((word >>> (31 - (bit & 31))) & 1)) % 9007199254740881;
  }
  return value;
}
