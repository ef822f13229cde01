import { z } from 'zod';

const amount = z.number().min(0);

/** A weight that stays, or moves between two values and rests outside. */
export const rewardWeightSchema = z.union([
  amount,
  z.strictObject({
    kind: z.enum(['linear', 'cosine']),
    from: amount,
    to: amount,
    startStep: z.int().min(0).default(0).describe('up to this step the weight is `from`'),
    steps: z.int().positive().describe('steps from `from` to `to`'),
  }),
]);
export type RewardWeight = z.infer<typeof rewardWeightSchema>;

/**
 * The weight of a step, a pure function, so that a resumed run needs no state for it. Steps count from 0. The
 * cosine is half a period: from + (to - from) (1 - cos(pi p)) / 2 with p the share of the way.
 *
 * @throws RangeError for a step below 0
 */
export function rewardWeightAt(weight: RewardWeight, step: number): number {
  if (!(step >= 0)) throw new RangeError(`reward weight: step is ${step}, allowed is >= 0`);
  if (typeof weight === 'number') return weight;
  const { kind, from, to, startStep, steps } = weight;
  const way = Math.min(1, Math.max(0, (step - startStep) / steps));
  if (way === 1) return to;
  return from + (to - from) * (kind === 'linear' ? way : 0.5 * (1 - Math.cos(Math.PI * way)));
}
