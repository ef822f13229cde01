import type { RewardValue } from '../../core/index.ts';
import { type GroupAdvantages, groupwise, type SingletonPolicy } from './compared-groups.ts';

/**
 * On-policy RL with the optimal baseline, A_i = r_i - sum(l r) / sum(l) over the group, l the response lengths:
 * the baseline of least variance if the squared score function grows with the length. OPO (arXiv 2505.23585).
 *
 * @param lengths action tokens of each sample; > 0 where the reward is usable
 */
export function opoAdvantages(
  rewards: readonly RewardValue[],
  groupIds: readonly string[],
  lengths: readonly number[],
  { singleton = 'auto' }: { singleton?: SingletonPolicy } = {},
): GroupAdvantages {
  if (lengths.length !== rewards.length) {
    throw new RangeError(`opoAdvantages: ${lengths.length} lengths for ${rewards.length} rewards`);
  }
  return groupwise(rewards, groupIds, singleton, ({ members }) => {
    let [weighted, total] = [0, 0];
    for (const { index, reward } of members) {
      const length = lengths[index] as number;
      if (!(length > 0)) throw new RangeError(`opoAdvantages: sample ${index} has ${length} action tokens`);
      weighted += length * reward;
      total += length;
    }
    return members.map(({ reward }) => reward - weighted / total);
  });
}
