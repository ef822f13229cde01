import { z } from 'zod';
import { unionOfKinds } from './kinds.ts';

/**
 * The algorithm of a training stage, as a stage's configuration embeds it. Every union is told apart by `kind`;
 * the defaults are the published settings (docs/rl.md). No default of the whole: a stage chooses.
 */

/** A union told apart by `kind`, where settings without one mean the default kind: `{ epsilonHigh: 0.28 }`. */
const kindsOf = <Options extends readonly [z.core.$ZodTypeDiscriminable, ...z.core.$ZodTypeDiscriminable[]]>(
  kind: string,
  options: Options,
) =>
  z.preprocess(
    (value) =>
      typeof value === 'object' && value !== null && !Array.isArray(value) && !('kind' in value)
        ? { kind, ...value }
        : value,
    unionOfKinds(options),
  );

const epsilon = (value: number) =>
  z.number().positive().default(value).describe('added to the divisor that could be 0');
const discount = z.number().min(0).max(1).default(1).describe('gamma');
const per = z.enum(['token', 'turn']).default('token').describe('where the discount acts');
const clipLow = (value: number) => z.number().positive().lt(1).default(value);
const clipHigh = (value: number) => z.number().positive().default(value);

export const advantageConfigSchema = kindsOf('grpo', [
  z.strictObject({
    kind: z.literal('grpo'),
    scale: z.enum(['group', 'batch', 'none']).default('group').describe('none: Dr. GRPO'),
    epsilon: epsilon(1e-4),
  }),
  z.strictObject({ kind: z.literal('rloo') }),
  z.strictObject({ kind: z.literal('maxrl'), epsilon: epsilon(1e-6) }),
  z.strictObject({ kind: z.literal('opo') }),
  z.strictObject({ kind: z.literal('remax') }),
  z.strictObject({
    kind: z.literal('best-of-group'),
    scaled: z.boolean().default(true),
    epsilon: epsilon(1e-6),
  }),
  z.strictObject({ kind: z.literal('pass-at-k'), k: z.int().min(1).default(4) }),
  z.strictObject({ kind: z.literal('gdpo'), epsilon: epsilon(1e-4) }),
  z.strictObject({ kind: z.literal('reinforce++'), discount, per }),
  z.strictObject({ kind: z.literal('reinforce++-baseline') }),
  z.strictObject({
    kind: z.literal('gae'),
    discount,
    per,
    lambda: z.number().min(0).max(1).default(0.95),
    whiten: z.boolean().default(true),
  }),
]);
export type AdvantageConfig = z.infer<typeof advantageConfigSchema>;

export const bapoConfigSchema = z
  .strictObject({
    kind: z.literal('bapo'),
    lowStart: z.number().positive().lt(1).default(0.6),
    lowLimit: z.number().positive().lt(1).default(0.9),
    lowStep: z.number().positive().default(0.02),
    highStart: z.number().gt(1).default(1.2),
    highLimit: z.number().gt(1).default(3),
    highStep: z.number().positive().default(0.05),
    target: kindsOf('share', [
      z.strictObject({ kind: z.literal('share'), value: z.number().positive().lt(1).default(0.4) }),
      z.strictObject({ kind: z.literal('ratio'), value: z.number().positive().default(1) }),
    ])
      .prefault({ kind: 'share' })
      .describe('share rho0 of the positive in the whole (paper), or ratio t of positive to negative (code)'),
    order: z
      .enum(['high-first', 'low-first'])
      .default('high-first')
      .describe('which bound moves first: paper high, published code low'),
    contribution: z
      .enum(['value', 'gradient'])
      .default('value')
      .describe('what a clipped token contributes: its clipped value (published), or nothing'),
    dualClip: z.number().gt(1).nullable().default(null),
  })
  .refine(({ lowStart, lowLimit }) => lowStart <= lowLimit, 'lowStart must not be above lowLimit')
  .refine(({ highStart, highLimit }) => highStart <= highLimit, 'highStart must not be above highLimit');
export type BapoConfig = z.infer<typeof bapoConfigSchema>;

export const policyLossConfigSchema = kindsOf('clip', [
  z.strictObject({
    kind: z.literal('clip'),
    epsilonLow: clipLow(0.2),
    epsilonHigh: clipHigh(0.2).describe('DAPO clip-higher: 0.28'),
    dualClip: z.number().gt(1).nullable().default(null),
  }),
  z.strictObject({
    kind: z.enum(['gspo', 'gspo-token']),
    epsilonLow: clipLow(3e-4),
    epsilonHigh: clipHigh(4e-4),
  }),
  z
    .strictObject({
      kind: z.literal('cispo'),
      ratioLow: z.number().min(0).default(0).describe('bounds of the weight itself, not distances from 1'),
      ratioHigh: z.number().positive().default(5),
    })
    .refine(({ ratioLow, ratioHigh }) => ratioLow <= ratioHigh, 'ratioLow must not be above ratioHigh'),
  z.strictObject({
    kind: z.literal('sapo'),
    temperaturePositive: z.number().positive().default(1),
    temperatureNegative: z.number().positive().default(1.05),
  }),
  z.strictObject({
    kind: z.literal('gmpo'),
    logRangeLow: z.number().positive().default(0.4).describe('of the log-ratio'),
    logRangeHigh: z.number().positive().default(0.4),
  }),
  z
    .strictObject({
      kind: z.literal('clip-cov'),
      share: z.number().positive().max(1).default(2e-4).describe('of the tokens that are detached'),
      covarianceLow: z.number().default(1),
      covarianceHigh: z.number().default(5),
      epsilonLow: clipLow(0.2),
      epsilonHigh: clipHigh(0.2),
    })
    .refine(
      ({ covarianceLow, covarianceHigh }) => covarianceLow < covarianceHigh,
      'covarianceLow must be below covarianceHigh',
    ),
  z.strictObject({
    kind: z.literal('kl-cov'),
    share: z.number().positive().max(1).default(2e-4).describe('of the tokens that are penalised'),
    coefficient: z.number().min(0).default(1),
  }),
  bapoConfigSchema,
]);
export type PolicyLossConfig = z.infer<typeof policyLossConfigSchema>;

export const referenceConfigSchema = kindsOf('frozen-start', [
  z.strictObject({ kind: z.literal('frozen-start') }).describe('the weights that training started from'),
  z.strictObject({ kind: z.literal('adapter-off') }).describe('the policy without its adapter'),
  z
    .strictObject({
      kind: z.literal('synchronised'),
      everySteps: z.int().positive().default(512),
      mix: z
        .number()
        .positive()
        .max(1)
        .default(0.6)
        .describe('share of the policy in the new reference; 1 copies it'),
    })
    .describe('follows the policy'),
]);
export type ReferenceConfig = z.infer<typeof referenceConfigSchema>;

/** KL to a reference, with the stage's own coefficient: one key that is set leaves the others as they are. */
export const klSettings = (value: number) =>
  z.strictObject({
    estimator: z.enum(['k1', 'k2', 'k3']).default('k3'),
    place: z.enum(['loss', 'reward']).default('loss'),
    gradient: z
      .enum(['plain', 'importance', 'k2'])
      .default('plain')
      .describe('in the loss: of the estimator, of it times the ratio, or of k2 under its value'),
    coefficient: kindsOf('fixed', [
      z.strictObject({ kind: z.literal('fixed'), value: z.number().min(0).default(value) }),
      z.strictObject({
        kind: z.literal('adaptive'),
        start: z.number().positive().default(0.001),
        target: z.number().positive().default(0.1).describe('KL in nats per token'),
        horizon: z.number().positive().default(10_000).describe('samples'),
      }),
    ]).prefault({ kind: 'fixed' }),
    reference: referenceConfigSchema.prefault({ kind: 'frozen-start' }),
  });
export type KlConfig = z.infer<ReturnType<typeof klSettings>>;

export const entropyConfigSchema = z.strictObject({
  bonus: kindsOf('fixed', [
    z.strictObject({ kind: z.literal('fixed'), coefficient: z.number().min(0).default(0) }),
    z
      .strictObject({
        kind: z.literal('adaptive'),
        target: z.number().positive().default(0.2).describe('nats per token'),
        start: z.number().min(0).default(0),
        step: z.number().positive().default(0.005),
        minimum: z.number().min(0).default(0),
        maximum: z.number().positive().default(1),
      })
      .refine(
        ({ start, minimum, maximum }) => minimum <= start && start <= maximum,
        'start must lie between minimum and maximum',
      ),
  ]).prefault({ kind: 'fixed' }),
  topShare: z
    .number()
    .positive()
    .max(1)
    .default(1)
    .describe('share of tokens, those of highest entropy, that the policy gradient keeps (paper 0.2)'),
});
export type EntropyConfig = z.infer<typeof entropyConfigSchema>;

export const aggregationConfigSchema = kindsOf('token-mean', [
  z.strictObject({ kind: z.literal('token-mean') }),
  z.strictObject({ kind: z.literal('sequence-mean') }),
  z.strictObject({
    kind: z.literal('constant'),
    length: z
      .number()
      .positive()
      .nullable()
      .default(null)
      .describe('tokens a sequence counts as; null: the longest allowed response'),
  }),
]);
export type AggregationConfig = z.infer<typeof aggregationConfigSchema>;

const correctionLevel = z
  .enum(['token', 'sequence'])
  .default('token')
  .describe('ratio of each token, or of the whole sequence (the product)');

export const importanceConfigSchema = z.strictObject({
  old: z
    .enum(['trainer', 'sampler'])
    .default('trainer')
    .describe(
      'what the ratio is taken against: the weights at the start of the optimisation of a batch, or those that sampled it, however stale',
    ),
  correction: kindsOf('none', [
    z.strictObject({ kind: z.literal('none') }),
    z.strictObject({
      kind: z.literal('truncate'),
      level: correctionLevel,
      cap: z.number().positive().default(2),
    }),
    z
      .strictObject({
        kind: z.literal('mask'),
        level: correctionLevel,
        low: z.number().min(0).default(0.5),
        high: z.number().positive().default(5),
      })
      .refine(({ low, high }) => low < high, 'low must be below high'),
  ])
    .prefault({ kind: 'none' })
    .describe('of the difference between the engine that sampled and the one that trains'),
  offPolicyKl: z
    .number()
    .positive()
    .nullable()
    .default(null)
    .describe(
      'sequences of negative advantage whose mean log-ratio to the sampler is beyond this are left out',
    ),
});
export type ImportanceConfig = z.infer<typeof importanceConfigSchema>;

/** The policy-gradient algorithm as keys of a stage's configuration. */
export const algorithmSettings = ({ klCoefficient }: { klCoefficient: number }) => ({
  advantage: advantageConfigSchema.prefault({ kind: 'grpo' }),
  policyLoss: policyLossConfigSchema.prefault({ kind: 'clip' }),
  kl: klSettings(klCoefficient).prefault({}),
  entropy: entropyConfigSchema.prefault({}),
  aggregation: aggregationConfigSchema.prefault({ kind: 'token-mean' }),
  importance: importanceConfigSchema.prefault({}),
});
export type AlgorithmConfig = z.infer<z.ZodObject<ReturnType<typeof algorithmSettings>>>;

/** Learning from demonstrations or own successes by likelihood alone. */
export const imitationConfigSchema = unionOfKinds([
  z.strictObject({ kind: z.literal('weighted') }).describe('weight of a sequence: its reward, >= 0'),
  z.strictObject({
    kind: z.literal('filtered'),
    above: z.number().describe('sequences of a higher reward have weight 1, the others 0'),
  }),
]);
export type ImitationConfig = z.infer<typeof imitationConfigSchema>;

/** Learning from pairs. */
export const dpoConfigSchema = z.strictObject({
  beta: z.number().positive().default(0.1),
  labelSmoothing: z.number().min(0).lt(0.5).default(0).describe('chance that a pair is labelled wrongly'),
});
export type DpoConfig = z.infer<typeof dpoConfigSchema>;
