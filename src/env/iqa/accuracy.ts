import { z } from 'zod';

/**
 * Accuracy rewards: how near a score s lies to the MOS s*, both on [1, 5]. Reconstruction: the paper's formula
 * and constants are unpublished. The defaults below are common choices, not the paper's.
 */

const thresholdSchema = z.strictObject({
  form: z.literal('threshold'),
  epsilon: z.number().positive().default(0.35).describe('1 if |s - s*| < epsilon, else 0'),
});
const linearSchema = z.strictObject({
  form: z.literal('linear'),
  width: z.number().positive().default(4).describe('max(0, 1 - |s - s*| / width)'),
});
const gaussianSchema = z.strictObject({
  form: z.literal('gaussian'),
  sigma: z
    .union([z.number().positive(), z.literal('raters')])
    .default(0.5)
    .describe('exp(-(s - s*)^2 / 2 sigma^2); raters takes sigma from the standard deviation of the raters'),
  minimumSigma: z.number().positive().default(0.1).describe('floor of sigma when the raters agree'),
});

const pointwiseSchema = z.discriminatedUnion('form', [thresholdSchema, linearSchema, gaussianSchema]);
export type PointwiseAccuracy = z.infer<typeof pointwiseSchema>;

const mixedSchema = z.strictObject({
  form: z.literal('mixed'),
  parts: z
    .array(z.strictObject({ share: z.number().positive(), reward: pointwiseSchema }))
    .min(1)
    .refine((parts) => Math.abs(parts.reduce((sum, { share }) => sum + share, 0) - 1) < 1e-9, {
      message: 'the shares must add up to 1',
    }),
});
const rankSchema = z.strictObject({
  form: z.literal('rank').describe('Thurstone comparison with the other images of the batch (rank.ts)'),
});

export const accuracyFormSchema = z.discriminatedUnion('form', [
  thresholdSchema,
  linearSchema,
  gaussianSchema,
  mixedSchema,
  rankSchema,
]);
export type AccuracyForm = z.infer<typeof accuracyFormSchema>;

export interface AccuracyTarget {
  mos: number;
  /** Standard deviation of the raters on the scale of the MOS. Needed by sigma: raters. */
  mosStd?: number;
}

/** 1 if |s - s*| < epsilon, else 0. The form of Q-Insight (there with epsilon 0.35). Reconstruction. */
export const thresholdAccuracy = (score: number, mos: number, epsilon: number): number =>
  Math.abs(score - mos) < epsilon ? 1 : 0;

/** max(0, 1 - |s - s*| / width). With width 4, the span of the scale, only the largest error earns 0. Reconstruction. */
export const linearAccuracy = (score: number, mos: number, width: number): number =>
  Math.max(0, 1 - Math.abs(score - mos) / width);

/** exp(-(s - s*)^2 / 2 sigma^2). Reconstruction. */
export const gaussianAccuracy = (score: number, mos: number, sigma: number): number =>
  Math.exp(-((score - mos) ** 2) / (2 * sigma ** 2));

/** The reward of one score by a form that needs no other image. In [0, 1]. Throws where the target lacks what it needs. */
export function pointwiseAccuracy(
  score: number,
  target: AccuracyTarget,
  form: Exclude<AccuracyForm, { form: 'rank' }>,
): number {
  switch (form.form) {
    case 'threshold':
      return thresholdAccuracy(score, target.mos, form.epsilon);
    case 'linear':
      return linearAccuracy(score, target.mos, form.width);
    case 'gaussian': {
      if (form.sigma !== 'raters') return gaussianAccuracy(score, target.mos, form.sigma);
      if (target.mosStd === undefined) throw new Error('sigma: raters needs mosStd, the target has none');
      return gaussianAccuracy(score, target.mos, Math.max(form.minimumSigma, target.mosStd));
    }
    case 'mixed':
      return form.parts.reduce(
        (sum, { share, reward }) => sum + share * pointwiseAccuracy(score, target, reward),
        0,
      );
  }
}
