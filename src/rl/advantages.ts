import { ConfigError, type RewardValue, TrainingError } from '../core/index.ts';
import { groupById } from './groups.ts';

/**
 * What divides the group-centred reward: the group's standard deviation (GRPO), that of all rewards in the
 * batch, or nothing (Dr. GRPO).
 */
export type AdvantageScale = 'group' | 'batch' | 'none';

/**
 * What to do with a group that has a single usable reward. `auto`: drop and count it if rewards of the group
 * are missing, fail if the group was made with one sample. `drop` and `error` do so in both cases.
 */
export type SingletonPolicy = 'auto' | 'drop' | 'error';

export interface GroupStatistics {
  id: string;
  /** Samples in the group, those with a missing reward included. */
  size: number;
  /** Samples with a finite reward. */
  valid: number;
  /** Mean of the valid rewards; null if there is none. */
  mean: number | null;
  /** Unbiased standard deviation (n - 1) of the valid rewards; null for fewer than two. */
  std: number | null;
  /** All valid rewards are equal, and there are at least two. */
  zeroVariance: boolean;
}

export interface AdvantageCounts {
  groups: number;
  /** Groups of equal rewards: advantage 0 for all members. */
  zeroVarianceGroups: number;
  /** Groups dropped because one usable reward is left. */
  singletonGroups: number;
  /** Groups dropped because no usable reward is left. */
  emptyGroups: number;
  /** Rewards that are missing or not finite. */
  missing: number;
}

export interface GroupAdvantages {
  /** One per sample. `null`: the sample has no advantage (missing reward, dropped group) and no loss. */
  advantages: (number | null)[];
  groups: GroupStatistics[];
  counts: AdvantageCounts;
}

export interface GrpoAdvantageOptions {
  scale?: AdvantageScale;
  /** Added to the standard deviation, > 0. Default 1e-4. */
  epsilon?: number;
  singleton?: SingletonPolicy;
}

/**
 * Group-relative advantages, A = (r - mean of group) / (std + epsilon), over the usable rewards of each group.
 * DeepSeekMath (arXiv 2402.03300), section 4.1.2; `none` is Dr. GRPO (arXiv 2503.20783), section 3.2.
 * Rewards that are missing, NaN or infinite enter no statistic.
 *
 * @param rewards one per sample
 * @param groupIds the prompt id of each sample
 */
export function grpoAdvantages(
  rewards: readonly RewardValue[],
  groupIds: readonly string[],
  { scale = 'group', epsilon = 1e-4, singleton = 'auto' }: GrpoAdvantageOptions = {},
): GroupAdvantages {
  if (!(epsilon > 0)) throw new ConfigError(`advantage epsilon is ${epsilon}, allowed is > 0`);
  const prepared = prepare(rewards, groupIds, singleton);
  const compared = prepared.compared.flatMap(({ members }) => members.map(({ reward }) => reward));
  const batchStd = compared.length > 1 ? standardDeviation(compared) : 0;
  for (const { members, statistics } of prepared.compared) {
    const mean = statistics.mean as number;
    const divisor =
      scale === 'none' ? 1 : epsilon + (scale === 'batch' ? batchStd : (statistics.std as number));
    for (const { index, reward } of members) {
      // Exactly 0, where the rounded mean would leave a trace that a small divisor magnifies.
      prepared.result.advantages[index] = statistics.zeroVariance ? 0 : (reward - mean) / divisor;
    }
  }
  return prepared.result;
}

/**
 * REINFORCE leave-one-out, A_i = r_i - mean of the group's other rewards. Ahmadian et al., Back to Basics
 * (arXiv 2402.14740).
 */
export function rlooAdvantages(
  rewards: readonly RewardValue[],
  groupIds: readonly string[],
  { singleton = 'auto' }: { singleton?: SingletonPolicy } = {},
): GroupAdvantages {
  const prepared = prepare(rewards, groupIds, singleton);
  for (const { members, statistics } of prepared.compared) {
    const mean = statistics.mean as number;
    const correction = members.length / (members.length - 1);
    for (const { index, reward } of members) {
      prepared.result.advantages[index] = statistics.zeroVariance ? 0 : correction * (reward - mean);
    }
  }
  return prepared.result;
}

interface ComparedGroup {
  members: { index: number; reward: number }[];
  statistics: GroupStatistics;
}

function prepare(
  rewards: readonly RewardValue[],
  groupIds: readonly string[],
  singleton: SingletonPolicy,
): { result: GroupAdvantages; compared: ComparedGroup[] } {
  if (rewards.length !== groupIds.length) {
    throw new RangeError(`advantages: ${rewards.length} rewards but ${groupIds.length} group ids`);
  }
  const counts: AdvantageCounts = {
    groups: 0,
    zeroVarianceGroups: 0,
    singletonGroups: 0,
    emptyGroups: 0,
    missing: 0,
  };
  const groups: GroupStatistics[] = [];
  const compared: ComparedGroup[] = [];
  for (const [id, indices] of groupById(groupIds)) {
    const members = indices.flatMap((index) => {
      const reward = rewards[index] as RewardValue;
      return reward.status === 'ok' && Number.isFinite(reward.value) ? [{ index, reward: reward.value }] : [];
    });
    const statistics = describe(id, indices.length, members);
    groups.push(statistics);
    counts.groups++;
    counts.missing += statistics.size - statistics.valid;
    if (members.length === 0) counts.emptyGroups++;
    else if (members.length === 1) {
      refuseSingleton(statistics, singleton);
      counts.singletonGroups++;
    } else compared.push({ members, statistics });
    if (statistics.zeroVariance) counts.zeroVarianceGroups++;
  }
  const advantages = new Array<number | null>(rewards.length).fill(null);
  return { result: { advantages, groups, counts }, compared };
}

function describe(id: string, size: number, members: readonly { reward: number }[]): GroupStatistics {
  const values = members.map(({ reward }) => reward);
  return {
    id,
    size,
    valid: values.length,
    mean: values.length === 0 ? null : average(values),
    std: values.length < 2 ? null : standardDeviation(values),
    zeroVariance: values.length > 1 && values.every((value) => value === values[0]),
  };
}

function refuseSingleton({ id, size }: GroupStatistics, singleton: SingletonPolicy): void {
  if (singleton === 'drop' || (singleton === 'auto' && size > 1)) return;
  if (size === 1) {
    throw new ConfigError(`group ${id} has one sample, allowed are two and more`, {
      hint: 'set the group size to at least 2: a sample is judged against the others of its prompt',
    });
  }
  throw new TrainingError(`group ${id} has one usable reward left of ${size}`, {
    hint: 'see why its rewards are missing, or drop such groups (singleton: auto)',
  });
}

const average = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Unbiased (n - 1), two passes. */
function standardDeviation(values: readonly number[]): number {
  const mean = average(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
}
