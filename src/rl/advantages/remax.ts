import type { RewardValue } from '../../core/index.ts';
import { usable } from './compared-groups.ts';

/**
 * ReMax, A_i = r_i - reward of the greedy completion of the same prompt (arXiv 2310.10505). Needs no
 * group.
 *
 * @param greedyRewards for each sample the reward of its prompt's greedy completion
 * @returns one per sample; `null` where either reward is missing, NaN or infinite
 */
export function remaxAdvantages(
  rewards: readonly RewardValue[],
  greedyRewards: readonly RewardValue[],
): (number | null)[] {
  if (rewards.length !== greedyRewards.length) {
    throw new RangeError(
      `remaxAdvantages: ${rewards.length} rewards but ${greedyRewards.length} greedy rewards`,
    );
  }
  return rewards.map((reward, i) => {
    const [own, greedy] = [usable(reward), usable(greedyRewards[i] as RewardValue)];
    return own === null || greedy === null ? null : own - greedy;
  });
}
