import { requireLengths, visitSequences } from './sequences.ts';

/**
 * Leaves out sequences of negative advantage that the current policy has moved away from: kept is a sequence with
 * A >= 0 or mean_t (log p_sampler - log p) <= threshold. DeepSeek-V3.2 (arXiv 2512.02556), "Off-Policy Sequence
 * Masking". Log-probabilities that are NaN count as 0 difference.
 *
 * @param sampler flat over the sequences, where they were sampled @param current under the current weights
 * @param advantages one per sequence
 * @returns 1 for each kept sequence
 */
export function offPolicySequenceMask(
  {
    sampler,
    current,
    lengths,
    advantages,
  }: {
    sampler: ArrayLike<number>;
    current: ArrayLike<number>;
    lengths: readonly number[];
    advantages: readonly number[];
  },
  threshold: number,
): Uint8Array {
  requireLengths('offPolicySequenceMask', lengths, { sampler, current });
  if (advantages.length !== lengths.length) {
    throw new RangeError(
      `offPolicySequenceMask: ${advantages.length} advantages for ${lengths.length} sequences`,
    );
  }
  const kept = new Uint8Array(lengths.length);
  visitSequences(lengths, (start, end, sequence) => {
    let sum = 0;
    for (let t = start; t < end; t++) {
      const difference = (sampler[t] as number) - (current[t] as number);
      if (!Number.isNaN(difference)) sum += difference;
    }
    const mean = end > start ? sum / (end - start) : 0;
    kept[sequence] = (advantages[sequence] as number) >= 0 || mean <= threshold ? 1 : 0;
  });
  return kept;
}
