import { ConfigError, type RewardValue } from '../core/index.ts';
import { changingScalars, tf } from '../engine/index.ts';
import { usable } from './advantages/compared-groups.ts';
import type { ImitationConfig } from './config.ts';

/**
 * Weights of own or foreign answers when they are learned by likelihood: the reward itself, as the expectation
 * step of AgentEvol has it (arXiv 2406.04151), or 1 for those above a threshold, as rejection
 * sampling has it (STaR, arXiv 2203.14465).
 *
 * @returns one per sequence; `null` where the reward is missing, NaN or infinite
 */
export function imitationWeights(
  rewards: readonly RewardValue[],
  config: ImitationConfig,
): (number | null)[] {
  return rewards.map((reward) => {
    const value = usable(reward);
    if (value === null) return null;
    switch (config.kind) {
      case 'filtered':
        return value > config.above ? 1 : 0;
      case 'weighted':
        if (value >= 0) return value;
        throw new ConfigError(`weighted likelihood got reward ${value}, allowed is >= 0`, {
          hint: 'a negative weight makes the loss unbounded; use "filtered" or a policy gradient',
        });
      default:
        return config satisfies never;
    }
  });
}

/**
 * Weighted negative log-likelihood, -sum(weight * log p) / denominator.
 *
 * @param logProbabilities [T] of the action tokens @param weights [T], 0 for padding
 * @param denominator of the whole optimizer batch: its tokens, or the sum of its weights, > 0
 */
export function weightedNll(
  logProbabilities: tf.Tensor1D,
  weights: tf.Tensor1D,
  denominator: number,
): tf.Scalar {
  if (!(denominator > 0)) throw new RangeError(`weightedNll: denominator is ${denominator}, allowed is > 0`);
  const { perUnit } = changingScalars({ perUnit: 1 / denominator });
  return tf.sum(logProbabilities.mul(weights)).neg().mul(perUnit);
}
