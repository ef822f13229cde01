import type { ImportanceConfig } from '../config.ts';
import { LOG_RATIO_LIMIT } from '../policy-losses/surrogate-inputs.ts';
import { requireLengths, visitSequences } from './sequences.ts';

export interface ImportanceCorrection {
  /** Per token, >= 0; factors on the surrogate. */
  weights: Float64Array;
  /** Mean over tokens of the weights before truncation or masking. */
  meanRatio: number;
  /** Share of tokens whose weight was cut at the cap, or set to 0. */
  affectedShare: number;
}

/**
 * Importance weights between the engine that trains and the one that sampled, w = p_trainer / p_sampler, of each
 * token or of the whole sequence (the product over its tokens). `truncate`: min(w, cap), Yao et al., Your
 * Efficient RL Framework Secretly Brings You Off-Policy RL Training (2025), after Ionides, Truncated Importance
 * Sampling (2008). `mask`: w in [low, high], otherwise 0 (IcePop, Ling team 2025; masked importance sampling,
 * Liu et al. 2025).
 *
 * @param trainer log-probabilities under the weights that sampled, in the training engine; flat over sequences
 * @param sampler the same where they were sampled
 * @param lengths tokens of each sequence
 */
export function importanceCorrection(
  trainer: ArrayLike<number>,
  sampler: ArrayLike<number>,
  lengths: readonly number[],
  correction: ImportanceConfig['correction'],
): ImportanceCorrection {
  requireLengths('importanceCorrection', lengths, { trainer, sampler });
  const weights = new Float64Array(trainer.length).fill(1);
  if (correction.kind === 'none' || trainer.length === 0) {
    return { weights, meanRatio: 1, affectedShare: 0 };
  }
  visitSequences(lengths, (start, end) => {
    let sum = 0;
    for (let t = start; t < end; t++) {
      const logRatio = (trainer[t] as number) - (sampler[t] as number);
      sum += logRatio;
      weights[t] = ratioOf(logRatio);
    }
    if (correction.level === 'sequence') weights.fill(ratioOf(sum), start, end);
  });
  let [total, affected] = [0, 0];
  for (let t = 0; t < weights.length; t++) {
    const weight = weights[t] as number;
    total += weight;
    if (correction.kind === 'truncate') {
      if (weight <= correction.cap) continue;
      weights[t] = correction.cap;
    } else {
      if (weight >= correction.low && weight <= correction.high) continue;
      weights[t] = 0;
    }
    affected++;
  }
  return { weights, meanRatio: total / weights.length, affectedShare: affected / weights.length };
}

const ratioOf = (logRatio: number): number =>
  Math.exp(Math.max(-LOG_RATIO_LIMIT, Math.min(LOG_RATIO_LIMIT, logRatio)));
