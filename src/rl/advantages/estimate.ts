import type { RewardValue } from '../../core/index.ts';
import type { AdvantageConfig } from '../config.ts';
import { type AdvantageCounts, compareGroups, type GroupAdvantages, usable } from './compared-groups.ts';
import { generalisedAdvantages } from './gae.ts';
import { gdpoAdvantages, type RewardTerm } from './gdpo.ts';
import { grpoAdvantages } from './grpo.ts';
import { maxRlAdvantages } from './maxrl.ts';
import { opoAdvantages } from './opo.ts';
import { bestOfGroupAdvantages, passAtKAdvantages } from './pass-at-k.ts';
import { reinforcePlusPlusAdvantages, reinforcePlusPlusBaselineAdvantages } from './reinforce-plus-plus.ts';
import { remaxAdvantages } from './remax.ts';
import { rlooAdvantages } from './rloo.ts';
import { actionCount, terminalRewards } from './trajectory.ts';
import { whitenTokens } from './whiten.ts';

/** A rollout batch; every list has one entry per sample. */
export interface AdvantageBatch {
  rewards: readonly RewardValue[];
  groupIds: readonly string[];
  /** Mask of each response's action tokens, [T] per sample. */
  actions: readonly ArrayLike<boolean | number>[];
  /**
   * Rewards within the response, [T] per sample, added to the terminal one (a KL penalty, steps of an environment).
   * Estimators that know one number per sample take their sum; `gdpo`, which knows terms, takes none.
   */
  tokenRewards?: readonly ArrayLike<number>[];
  /** [T] per sample: the value head's estimates. Needed by `gae`. */
  values?: readonly ArrayLike<number>[];
  /** Reward of the greedy completion of the sample's prompt. Needed by `remax`. */
  greedyRewards?: readonly RewardValue[];
  /** The reward's terms. Needed by `gdpo`. */
  terms?: readonly RewardTerm[];
}

export interface EstimatedAdvantages {
  /** [T] per sample, 0 at tokens that are no actions; `null`: the sample has no advantage and no loss. */
  advantages: (Float64Array | null)[];
  /** [T] per sample: targets of the value head. `gae` alone. */
  returns?: (Float64Array | null)[];
  counts: AdvantageCounts;
}

/** The advantages of every action token under the configured estimator. */
export function estimateAdvantages(config: AdvantageConfig, batch: AdvantageBatch): EstimatedAdvantages {
  const { groupIds, actions } = batch;
  const rewards = withinRewards(batch);
  const perSample = ({ advantages, counts }: Pick<GroupAdvantages, 'advantages' | 'counts'>) => ({
    advantages: spread(advantages, actions),
    counts,
  });
  switch (config.kind) {
    case 'grpo':
      return perSample(grpoAdvantages(rewards, groupIds, config));
    case 'rloo':
      return perSample(rlooAdvantages(rewards, groupIds));
    case 'maxrl':
      return perSample(maxRlAdvantages(rewards, groupIds, config));
    case 'opo':
      return perSample(opoAdvantages(rewards, groupIds, actions.map(actionCount)));
    case 'best-of-group':
      return perSample(bestOfGroupAdvantages(rewards, groupIds, config));
    case 'pass-at-k':
      return perSample(passAtKAdvantages(rewards, groupIds, config));
    case 'gdpo': {
      const { advantages } = gdpoAdvantages(needed(batch.terms, 'terms', config.kind), groupIds, config);
      return perSample({ advantages, counts: countGroups(batch) });
    }
    case 'remax': {
      const greedy = needed(batch.greedyRewards, 'greedyRewards', config.kind);
      return perSample({ advantages: remaxAdvantages(rewards, greedy), counts: countGroups(batch) });
    }
    case 'reinforce++-baseline':
      return reinforcePlusPlusBaselineAdvantages(rewards, groupIds, actions);
    case 'reinforce++': {
      const kept = trajectoriesOf(batch);
      const advantages = reinforcePlusPlusAdvantages(kept, config);
      return { advantages: scatter(kept, advantages, rewards.length), counts: countGroups(batch) };
    }
    case 'gae': {
      const values = needed(batch.values, 'values', config.kind);
      const kept = trajectoriesOf(batch);
      const results = kept.map((trajectory) =>
        generalisedAdvantages(
          { ...trajectory, values: values[trajectory.index] as ArrayLike<number> },
          config,
        ),
      );
      const raw = results.map(({ advantages }) => advantages);
      const whitened = config.whiten
        ? whitenTokens(kept.map(({ actions: own }, i) => ({ values: raw[i]!, actions: own })))
        : raw;
      return {
        advantages: scatter(kept, whitened, rewards.length),
        returns: scatter(
          kept,
          results.map(({ returns }) => returns),
          rewards.length,
        ),
        counts: countGroups(batch),
      };
    }
    default:
      return config satisfies never;
  }
}

/** Each sample's reward with those within its response. */
const withinRewards = ({ rewards, tokenRewards }: AdvantageBatch): readonly RewardValue[] =>
  tokenRewards === undefined
    ? rewards
    : rewards.map((reward, i): RewardValue => {
        if (reward.status !== 'ok') return reward;
        return {
          status: 'ok',
          value: Array.from(tokenRewards[i]!).reduce((sum, value) => sum + value, reward.value),
        };
      });

/** The same advantage at every action token of a sample. */
function spread(
  advantages: readonly (number | null)[],
  actions: readonly ArrayLike<boolean | number>[],
): (Float64Array | null)[] {
  return advantages.map((advantage, i) =>
    advantage === null ? null : Float64Array.from(actions[i]!, (isAction) => (isAction ? advantage : 0)),
  );
}

/** The samples whose reward is there, with the reward at the last action token. */
function trajectoriesOf({ rewards, actions, tokenRewards }: AdvantageBatch) {
  return rewards.flatMap((reward, index) => {
    const value = usable(reward);
    if (value === null) return [];
    const own = actions[index]!;
    const sum = terminalRewards(own, value);
    const within = tokenRewards?.[index];
    if (within !== undefined) for (let t = 0; t < sum.length; t++) sum[t]! += within[t] as number;
    return [{ index, actions: own, rewards: sum }];
  });
}

function scatter(
  kept: readonly { index: number }[],
  values: readonly Float64Array[],
  size: number,
): (Float64Array | null)[] {
  const result = new Array<Float64Array | null>(size).fill(null);
  kept.forEach(({ index }, i) => {
    result[index] = values[i]!;
  });
  return result;
}

/** Estimators that compare no groups report them all the same; one sample per prompt is no error there. */
const countGroups = ({ rewards, groupIds }: AdvantageBatch): AdvantageCounts =>
  compareGroups(rewards, groupIds, 'drop').result.counts;

function needed<T>(value: T | undefined, name: string, kind: string): T {
  if (value === undefined) throw new RangeError(`estimateAdvantages: ${kind} needs ${name}`);
  return value;
}
