import { ConfigError, type RewardValue, TrainingError } from '../../core/index.ts';
import { groupById } from '../groups.ts';
import { allEqual, average, standardDeviation } from './statistics.ts';

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

/** A group with at least two usable rewards. */
export interface ComparedGroup {
  /** Its usable rewards, with their positions in the batch. */
  members: { index: number; reward: number }[];
  statistics: GroupStatistics;
}

/** The number in a reward; null if it is missing, NaN or infinite. */
export const usable = (reward: RewardValue): number | null =>
  reward.status === 'ok' && Number.isFinite(reward.value) ? reward.value : null;

/**
 * Sorts a batch into groups that can be compared, and counts the others. Rewards that are missing, NaN or
 * infinite enter no group.
 *
 * @throws ConfigError for a group made with one sample, by the singleton policy
 */
export function compareGroups(
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
      const reward = usable(rewards[index] as RewardValue);
      return reward === null ? [] : [{ index, reward }];
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

/**
 * Advantages that are a function of one group's rewards alone. A group of equal rewards gets exactly 0, where a
 * rounded mean would leave a trace that a small divisor magnifies.
 *
 * @param ofGroup advantages of the members, in their order; asked only for groups with variance
 */
export function groupwise(
  rewards: readonly RewardValue[],
  groupIds: readonly string[],
  singleton: SingletonPolicy,
  ofGroup: (group: ComparedGroup) => readonly number[],
): GroupAdvantages {
  const { result, compared } = compareGroups(rewards, groupIds, singleton);
  for (const group of compared) {
    const values = group.statistics.zeroVariance ? null : ofGroup(group);
    group.members.forEach(({ index }, i) => {
      result.advantages[index] = values === null ? 0 : (values[i] as number);
    });
  }
  return result;
}

function describe(id: string, size: number, members: readonly { reward: number }[]): GroupStatistics {
  const values = members.map(({ reward }) => reward);
  return {
    id,
    size,
    valid: values.length,
    mean: values.length === 0 ? null : average(values),
    std: values.length < 2 ? null : standardDeviation(values),
    zeroVariance: values.length > 1 && allEqual(values),
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
