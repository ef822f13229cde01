import type { RewardValue } from '../../core/index.ts';
import { type AdvantageCounts, compareGroups, type SingletonPolicy } from './compared-groups.ts';
import { returnsToGo } from './returns.ts';
import type { DiscountPer, Trajectory } from './trajectory.ts';
import { whitenTokens } from './whiten.ts';

/**
 * REINFORCE++: the return-to-go of every action token, whitened over the batch (arXiv 2501.03262). A KL penalty
 * belongs into the rewards before (`klPenalisedRewards`).
 *
 * @returns per response [T], 0 at tokens that are no actions
 */
export function reinforcePlusPlusAdvantages(
  trajectories: readonly Trajectory[],
  options: { discount?: number; per?: DiscountPer } = {},
): Float64Array[] {
  return whitenTokens(
    trajectories.map((trajectory) => ({
      values: returnsToGo(trajectory, options),
      actions: trajectory.actions,
    })),
  );
}

export interface BaselineAdvantages {
  /** Per response [T], 0 at tokens that are no actions; `null` for a missing reward or a dropped group. */
  advantages: (Float64Array | null)[];
  counts: AdvantageCounts;
}

/**
 * REINFORCE++ with group baseline: the reward minus the mean of its group at every action token, whitened over
 * the batch instead of scaled per group (arXiv 2501.03262, "REINFORCE++-baseline").
 *
 * @param actions mask of each response's action tokens
 */
export function reinforcePlusPlusBaselineAdvantages(
  rewards: readonly RewardValue[],
  groupIds: readonly string[],
  actions: readonly ArrayLike<boolean | number>[],
  { singleton = 'auto' }: { singleton?: SingletonPolicy } = {},
): BaselineAdvantages {
  const { result, compared } = compareGroups(rewards, groupIds, singleton);
  const kept: { index: number; centred: number }[] = compared.flatMap(({ members, statistics }) =>
    members.map(({ index, reward }) => ({
      index,
      centred: statistics.zeroVariance ? 0 : reward - (statistics.mean as number),
    })),
  );
  const whitened = whitenTokens(
    kept.map(({ index, centred }) => {
      const mask = actions[index] as ArrayLike<boolean | number>;
      return { values: new Float64Array(mask.length).fill(centred), actions: mask };
    }),
  );
  const advantages = new Array<Float64Array | null>(rewards.length).fill(null);
  kept.forEach(({ index }, i) => {
    advantages[index] = whitened[i] as Float64Array;
  });
  return { advantages, counts: result.counts };
}
