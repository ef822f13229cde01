import { ConfigError, type RewardValue } from '../../core/index.ts';
import { compareGroups, type GroupAdvantages, groupwise, type SingletonPolicy } from './compared-groups.ts';
import { standardDeviation } from './statistics.ts';

/**
 * What divides the group-centred reward: the group's standard deviation (GRPO), that of all rewards in the
 * batch, or nothing (Dr. GRPO).
 */
export type AdvantageScale = 'group' | 'batch' | 'none';

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
  requireEpsilon(epsilon);
  const batchStd = scale === 'batch' ? batchDeviation(rewards, groupIds, singleton) : 0;
  return groupwise(rewards, groupIds, singleton, ({ members, statistics }) => {
    const mean = statistics.mean as number;
    const divisor =
      scale === 'none' ? 1 : epsilon + (scale === 'batch' ? batchStd : (statistics.std as number));
    return members.map(({ reward }) => (reward - mean) / divisor);
  });
}

export function requireEpsilon(epsilon: number): void {
  if (!(epsilon > 0)) throw new ConfigError(`advantage epsilon is ${epsilon}, allowed is > 0`);
}

/** Standard deviation of all rewards that are compared; 0 for fewer than two. */
function batchDeviation(
  rewards: readonly RewardValue[],
  groupIds: readonly string[],
  singleton: SingletonPolicy,
): number {
  const { compared } = compareGroups(rewards, groupIds, singleton);
  const values = compared.flatMap(({ members }) => members.map(({ reward }) => reward));
  return values.length > 1 ? standardDeviation(values) : 0;
}
