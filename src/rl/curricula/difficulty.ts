import { z } from 'zod';
import type { RewardValue } from '../../core/index.ts';
import { usable } from '../advantages/compared-groups.ts';
import { average } from '../advantages/statistics.ts';
import { unionOfKinds } from '../kinds.ts';

/** How a group of rewards becomes its success in [0, 1]. */
export const successConfigSchema = unionOfKinds([
  z.strictObject({
    kind: z.literal('pass-rate'),
    above: z.number().default(0).describe('a completion passes whose reward is higher'),
  }),
  z
    .strictObject({
      kind: z.literal('mean-reward'),
      low: z.number().default(0).describe('mean reward that counts as 0'),
      high: z.number().default(1).describe('mean reward that counts as 1'),
    })
    .refine(({ low, high }) => low < high, 'low must be below high'),
]);
export type SuccessConfig = z.infer<typeof successConfigSchema>;

/** How past successes of a prompt become its recent one. */
export const memoryConfigSchema = unionOfKinds([
  z.strictObject({
    kind: z.literal('exponential'),
    share: z.number().positive().max(1).default(0.5).describe('of the newest group in the average'),
  }),
  z.strictObject({
    kind: z.literal('window'),
    groups: z.int().positive().default(4).describe('newest groups that are averaged'),
  }),
]);
export type MemoryConfig = z.infer<typeof memoryConfigSchema>;

export const difficultyConfigSchema = unionOfKinds([
  z.strictObject({ kind: z.literal('off') }),
  z.strictObject({
    kind: z.literal('recent-success'),
    success: successConfigSchema.prefault({ kind: 'pass-rate' }),
    memory: memoryConfigSchema.prefault({ kind: 'exponential' }),
    weight: z
      .enum(['learnability', 'failure'])
      .default('learnability')
      .describe('4 p (1 - p): what is sometimes solved; 1 - p: what is seldom solved'),
    floor: z
      .number()
      .positive()
      .max(1)
      .default(0.1)
      .describe('share of the draws that is uniform, so that no prompt starves'),
  }),
]);
export type DifficultyConfig = Extract<z.infer<typeof difficultyConfigSchema>, { kind: 'recent-success' }>;

/**
 * Success of a group in [0, 1]: the share of its rewards above a threshold, or its mean reward on a scale, cut to
 * [0, 1]. Missing rewards do not count; null if none is left.
 */
export function groupSuccess(rewards: readonly RewardValue[], config: SuccessConfig): number | null {
  const values = rewards.map(usable).filter((value) => value !== null);
  if (values.length === 0) return null;
  if (config.kind === 'pass-rate') return average(values.map((value) => (value > config.above ? 1 : 0)));
  return Math.min(1, Math.max(0, (average(values) - config.low) / (config.high - config.low)));
}

/**
 * How much a prompt of recent success p is wanted, in [0, 1]. `learnability`: 4 p (1 - p), the variance of a pass,
 * which is what a group-relative advantage lives on (Foster et al., Learning to Reason at the Frontier of
 * Learnability, arXiv 2502.12272; scaled to 1 by us). `failure`: 1 - p (Kimi k1.5, arXiv 2501.12599, section 2.3,
 * prioritised sampling). A prompt that was never tried has 1.
 */
export function difficultyWeight(success: number | null, weight: DifficultyConfig['weight']): number {
  if (success === null) return 1;
  if (!(success >= 0 && success <= 1)) {
    throw new RangeError(`difficulty: success is ${success}, allowed is [0, 1]`);
  }
  return weight === 'failure' ? 1 - success : 4 * success * (1 - success);
}

/**
 * Probability of each of n prompts, floor / n + (1 - floor) w / sum(w): a mixture with the uniform distribution, as
 * in epsilon-greedy sampling (ours). Uniform where no prompt has a weight. None is below floor / n.
 *
 * @param weights one per prompt, >= 0
 * @param floor in (0, 1]
 */
export function drawProbabilities(weights: readonly number[], floor: number): number[] {
  if (!(floor > 0 && floor <= 1)) throw new RangeError(`difficulty: floor is ${floor}, allowed is (0, 1]`);
  for (const weight of weights) {
    if (!(weight >= 0 && weight < Number.POSITIVE_INFINITY)) {
      throw new RangeError(`difficulty: a weight is ${weight}, allowed are finite numbers >= 0`);
    }
  }
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const uniform = 1 / weights.length;
  return weights.map((weight) => (sum === 0 ? uniform : floor * uniform + ((1 - floor) * weight) / sum));
}
