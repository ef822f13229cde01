import type { RewardValue } from '../../core/index.ts';
import { type GroupAdvantages, groupwise, type SingletonPolicy } from './compared-groups.ts';

/**
 * REINFORCE leave-one-out, A_i = r_i - mean of the group's other rewards. Ahmadian et al., Back to Basics
 * (arXiv 2402.14740).
 */
export function rlooAdvantages(
  rewards: readonly RewardValue[],
  groupIds: readonly string[],
  { singleton = 'auto' }: { singleton?: SingletonPolicy } = {},
): GroupAdvantages {
  return groupwise(rewards, groupIds, singleton, ({ members, statistics }) => {
    const mean = statistics.mean as number;
    const correction = members.length / (members.length - 1);
    return members.map(({ reward }) => correction * (reward - mean));
  });
}
