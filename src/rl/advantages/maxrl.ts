import { ConfigError, type RewardValue } from '../../core/index.ts';
import { type GroupAdvantages, groupwise, type SingletonPolicy } from './compared-groups.ts';
import { requireEpsilon } from './grpo.ts';

/**
 * Maximum-likelihood reinforcement learning, A_i = (r_i - mean) / (mean + epsilon): the mean score function of
 * the successes alone, with the mean of all scores as control variate. Rare successes weigh more than under
 * GRPO. Maximum Likelihood Reinforcement Learning (arXiv 2602.02710); the epsilon as SkyRL has it.
 *
 * @param rewards >= 0, made for 0 and 1. A group without success has advantage 0
 * @throws ConfigError for a negative reward: the mean would not be a success rate, and could be 0
 */
export function maxRlAdvantages(
  rewards: readonly RewardValue[],
  groupIds: readonly string[],
  { epsilon = 1e-6, singleton = 'auto' }: { epsilon?: number; singleton?: SingletonPolicy } = {},
): GroupAdvantages {
  requireEpsilon(epsilon);
  return groupwise(rewards, groupIds, singleton, ({ members, statistics }) => {
    const negative = members.find(({ reward }) => reward < 0);
    if (negative !== undefined) {
      throw new ConfigError(`MaxRL got reward ${negative.reward}, allowed is >= 0`, {
        hint: 'use a success reward of 0 or 1, or another advantage estimator',
      });
    }
    const mean = statistics.mean as number;
    return members.map(({ reward }) => (reward - mean) / (mean + epsilon));
  });
}
