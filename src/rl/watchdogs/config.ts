import { z } from 'zod';

/** What a watchdog may do: say so, end the run, go back to an older checkpoint, or nothing. */
const action = z.enum(['warn', 'stop', 'roll-back', 'off']).default('warn');

interface Defaults {
  metric: string;
  threshold: number;
  window: number;
  patience: number;
}

const common = ({ metric, threshold, window, patience }: Defaults, allowed: string) => ({
  metric: z.string().min(1).default(metric).describe('name in metrics.jsonl'),
  threshold: z.number().min(0).default(threshold).describe(allowed),
  window: z.int().positive().default(window).describe('steps that a mean is taken over'),
  patience: z.int().positive().default(patience).describe('bad steps in a row before it barks'),
  action,
});

/** A mean over the last steps that must stay on one side of a threshold. */
const level = (defaults: Defaults, allowed: string) => z.strictObject(common(defaults, allowed)).prefault({});

/**
 * Watchdogs over the metrics of a training run, all of which warn by default. The defaults are far outside of what
 * healthy runs show (docs/watchdogs.md).
 */
export const watchdogConfigSchema = z.strictObject({
  entropy: level(
    { metric: 'entropy', threshold: 0.02, window: 10, patience: 5 },
    'least entropy, nats per token',
  ),
  kl: level(
    { metric: 'kl', threshold: 2, window: 10, patience: 5 },
    'largest KL to the reference, nats per token',
  ),
  format: level(
    { metric: 'reward/format/mean', threshold: 0.5, window: 10, patience: 5 },
    'least share of well-formed answers',
  ),
  repetition: level(
    { metric: 'completions/repetition', threshold: 0.5, window: 5, patience: 5 },
    'largest share of repeated n-grams',
  ),
  length: z
    .strictObject({
      ...common(
        { metric: 'completions/mean_length', threshold: 3, window: 10, patience: 5 },
        'largest factor, up or down, between the length now and that of the first steps',
      ),
      threshold: z.number().gt(1).default(3).describe('largest factor, up or down, to the first steps'),
      baseline: z.int().positive().default(20).describe('first steps that the length is compared with'),
    })
    .prefault({}),
  identicalGroups: level(
    { metric: 'frac_reward_zero_std', threshold: 0.9, window: 10, patience: 5 },
    'largest share of groups whose rewards are all equal',
  ),
  rewardHacking: z
    .strictObject({
      ...common(
        { metric: 'validation/srcc', threshold: 0.1, window: 20, patience: 2 },
        'largest fall of the validation correlation below its best while a reward rises',
      ),
      patience: z.int().positive().default(2).describe('bad validations in a row before it barks'),
      rise: z
        .number()
        .min(0)
        .default(0.02)
        .describe('least rise of a mean reward since that best, in the unit of the reward'),
    })
    .prefault({}),
  gradientNorm: z
    .strictObject({
      ...common(
        { metric: 'gradientNorm', threshold: 10, window: 20, patience: 3 },
        'largest factor above the median of the last good steps',
      ),
      minimum: z.number().min(0).default(1).describe('a norm up to this is never an explosion'),
    })
    .prefault({}),
});
export type WatchdogConfig = z.infer<typeof watchdogConfigSchema>;

export type WatchdogName = keyof WatchdogConfig;
export type WatchdogAction = z.infer<typeof action>;
