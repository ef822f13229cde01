import { ConfigError, type RewardValue } from '../../core/index.ts';
import { type GroupAdvantages, groupwise, type SingletonPolicy } from './compared-groups.ts';
import { requireEpsilon } from './grpo.ts';

/**
 * Only the best sample of a group has an advantage: its reward minus the second best, divided by the group's
 * standard deviation if `scaled`. This is what the best of n gains over the best of the others. Tang et al.,
 * Optimizing Language Models for Inference Time Objectives (arXiv 2503.19595). Of several best
 * samples none has an advantage, for the difference is 0.
 */
export function bestOfGroupAdvantages(
  rewards: readonly RewardValue[],
  groupIds: readonly string[],
  {
    scaled = true,
    epsilon = 1e-6,
    singleton = 'auto',
  }: { scaled?: boolean; epsilon?: number; singleton?: SingletonPolicy } = {},
): GroupAdvantages {
  requireEpsilon(epsilon);
  return groupwise(rewards, groupIds, singleton, ({ members, statistics }) => {
    const [best, second] = members.map(({ reward }) => reward).sort((a, b) => b - a) as [number, number];
    const gain = (best - second) / (scaled ? (statistics.std as number) + epsilon : 1);
    return members.map(({ reward }) => (reward === best ? gain : 0));
  });
}

/**
 * Pass@k as the reward of every subset of k samples, averaged over the subsets that hold the sample, in closed
 * form. With N samples, F of them failures, and P = 1 - C(F, k) / C(N, k):
 * A+ = (1 - P) / s and A- = (1 - P - C(F - 1, k - 1) / C(N - 1, k - 1)) / s, s = sqrt(P (1 - P)).
 * Chen et al., Pass@k Training (arXiv 2508.10751), its analytical derivation.
 *
 * @param rewards exactly 0 or 1
 * @param k samples of which one must succeed, an integer >= 1; a group smaller than k is an error
 */
export function passAtKAdvantages(
  rewards: readonly RewardValue[],
  groupIds: readonly string[],
  { k, singleton = 'auto' }: { k: number; singleton?: SingletonPolicy },
): GroupAdvantages {
  if (!Number.isInteger(k) || k < 1) throw new ConfigError(`pass@k: k is ${k}, allowed is an integer >= 1`);
  return groupwise(rewards, groupIds, singleton, ({ members, statistics }) => {
    const samples = members.length;
    if (samples < k) {
      throw new ConfigError(`pass@k: group ${statistics.id} has ${samples} usable rewards, k is ${k}`, {
        hint: 'set the group size well above k',
      });
    }
    const other = members.find(({ reward }) => reward !== 0 && reward !== 1);
    if (other !== undefined) {
      throw new ConfigError(`pass@k got reward ${other.reward}, allowed are 0 and 1`, {
        hint: 'use a success reward, or the best-of-group estimator',
      });
    }
    const failures = members.filter(({ reward }) => reward === 0).length;
    const allFail = shareOfSubsets(failures, samples, k);
    if (allFail === 0) return members.map(() => 0);
    const deviation = Math.sqrt(allFail * (1 - allFail));
    const othersFail = shareOfSubsets(failures - 1, samples - 1, k - 1);
    return members.map(({ reward }) => (reward === 1 ? allFail : allFail - othersFail) / deviation);
  });
}

/** C(part, k) / C(whole, k): chance that k of `whole` items all come from `part` of them. */
function shareOfSubsets(part: number, whole: number, k: number): number {
  let share = 1;
  for (let i = 0; i < k; i++) share *= Math.max(0, part - i) / (whole - i);
  return share;
}
