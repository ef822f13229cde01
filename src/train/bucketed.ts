import type { Sequence } from '../model/index.ts';
import { chunk } from './chunk.ts';

/**
 * Micro-batches of sequences of like length, shortest first: each is padded to its own longest sequence only. Every
 * sequence keeps a row of its own, so none sees another. The sum over the batch is the same in any order; one
 * micro-batch keeps the order it came in.
 */
export function bucketed(sequences: readonly Sequence[], microBatch: number): Sequence[][] {
  if (sequences.length <= microBatch) return [[...sequences]];
  const byLength = [...sequences].sort((a, b) => a.tokenIds.length - b.tokenIds.length);
  return chunk(byLength, microBatch);
}
