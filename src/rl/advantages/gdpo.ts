import { ConfigError, type RewardValue } from '../../core/index.ts';
import type { AdvantageCounts, SingletonPolicy } from './compared-groups.ts';
import { grpoAdvantages, requireEpsilon } from './grpo.ts';
import { allEqual, average, standardDeviation } from './statistics.ts';

/** One term of the reward, for all samples of the batch. */
export interface RewardTerm {
  name: string;
  weight: number;
  rewards: readonly RewardValue[];
}

export interface GdpoAdvantages {
  /** One per sample; `null` where no term has a comparable reward. */
  advantages: (number | null)[];
  /** Of each term, by name. */
  counts: Record<string, AdvantageCounts>;
}

/**
 * Group reward-decoupled normalisation: every term is centred and scaled within its group on its own, the
 * weighted terms are summed, and the sums are centred and scaled over the batch,
 * A = (S - mean S) / (std S + epsilon), S = sum_k w_k (r_k - mean_k) / (std_k + epsilon). A term of small spread
 * is not drowned by one of large. GDPO (arXiv 2601.05242).
 *
 * A term that is missing for a sample adds nothing to its sum: it is no evidence, and enters no statistic.
 */
export function gdpoAdvantages(
  terms: readonly RewardTerm[],
  groupIds: readonly string[],
  { epsilon = 1e-4, singleton = 'auto' }: { epsilon?: number; singleton?: SingletonPolicy } = {},
): GdpoAdvantages {
  requireEpsilon(epsilon);
  if (terms.length === 0) throw new ConfigError('GDPO needs at least one reward term');
  const sums = new Array<number | null>(groupIds.length).fill(null);
  const counts: Record<string, AdvantageCounts> = {};
  for (const { name, weight, rewards } of terms) {
    const normalised = grpoAdvantages(rewards, groupIds, { epsilon, singleton });
    counts[name] = normalised.counts;
    normalised.advantages.forEach((advantage, i) => {
      if (advantage !== null) sums[i] = (sums[i] ?? 0) + weight * advantage;
    });
  }
  return { advantages: standardise(sums, epsilon), counts };
}

/** Centres and scales the values that are there; all equal gives exactly 0. */
function standardise(values: readonly (number | null)[], epsilon: number): (number | null)[] {
  const present = values.filter((value) => value !== null);
  if (present.length < 2 || allEqual(present)) return values.map((value) => (value === null ? null : 0));
  const [mean, deviation] = [average(present), standardDeviation(present)];
  return values.map((value) => (value === null ? null : (value - mean) / (deviation + epsilon)));
}
