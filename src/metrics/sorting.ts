import type { Numbers } from './result.ts';

const HIGH_WORD = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 1 : 0;

/**
 * Indices of finite values in ascending order, equal values in the order given: a radix sort of the bits of
 * the doubles, which beats a comparison sort of indices by far when there are many.
 */
export function ascendingOrder(values: Numbers): Uint32Array {
  const n = values.length;
  const copy = new Float64Array(n);
  // Adding 0 turns -0 into 0, so that the two are equal in their bits as well.
  for (let i = 0; i < n; i++) copy[i] = values[i]! + 0;
  const words = new Uint32Array(copy.buffer);
  const low = new Uint32Array(n);
  const high = new Uint32Array(n);
  for (let i = 0; i < n; i++) {
    const top = words[2 * i + HIGH_WORD]!;
    const bottom = words[2 * i + 1 - HIGH_WORD]!;
    // Unsigned order of these bits is the order of the numbers: flip all of a negative, the sign of the rest.
    const negative = top >>> 31 === 1;
    high[i] = negative ? ~top : top ^ 0x80000000;
    low[i] = negative ? ~bottom : bottom;
  }
  return orderByWord(high, orderByWord(low, givenOrder(n)));
}

/** The indices 0 .. n - 1. A loop: the `from` of typed arrays is many times slower. */
export function givenOrder(n: number): Uint32Array {
  const order = new Uint32Array(n);
  for (let i = 0; i < n; i++) order[i] = i;
  return order;
}

/**
 * Stable: sorts the indices in `order`, a permutation of all, by the 32-bit words they point to, and leaves ties
 * as they are.
 */
export function orderByWord(words: Uint32Array, order: Uint32Array): Uint32Array {
  const n = order.length;
  const bits = n < 16384 ? 8 : 16;
  const mask = (1 << bits) - 1;
  let from: Uint32Array = order;
  let to: Uint32Array = new Uint32Array(n);
  for (let shift = 0; shift < 32; shift += bits) {
    const start = new Uint32Array(mask + 2);
    // Counts do not depend on the order, and reading in sequence is faster.
    for (let i = 0; i < n; i++) start[((words[i]! >>> shift) & mask) + 1]!++;
    if (start.includes(n, 1)) continue; // All share this digit.
    for (let digit = 1; digit <= mask; digit++) start[digit]! += start[digit - 1]!;
    for (let i = 0; i < n; i++) {
      const index = from[i]!;
      to[start[(words[index]! >>> shift) & mask]!++] = index;
    }
    // The caller's order is never written to: after the first pass both buffers are ours.
    const free = from === order ? new Uint32Array(n) : from;
    from = to;
    to = free;
  }
  return from;
}
