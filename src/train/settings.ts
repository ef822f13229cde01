import { z } from 'zod';
import type { MayDiffer } from '../formats/index.ts';
import { loraSettingsSchema, VIEW_COUNTS } from '../model/index.ts';

/** Settings shared by the training stages; each stage's own object stands beside its code. */

const optimizerKeys = {
  learningRate: z.number().positive().describe('peak learning rate'),
  schedule: z.enum(['constant', 'linear', 'cosine']).default('cosine').describe('shape after the warm-up'),
  warmupShare: z
    .number()
    .min(0)
    .max(1)
    .default(0.05)
    .describe('share of the steps spent warming up linearly'),
  finalShare: z.number().min(0).max(1).default(0.02).describe('last learning rate as a share of the peak'),
  beta1: z.number().min(0).lt(1).default(0.9),
  beta2: z.number().min(0).lt(1),
  epsilon: z.number().positive().default(1e-8),
  weightDecay: z.number().min(0).describe('decoupled; matrices only'),
  clipNorm: z.number().positive().default(1).describe('global gradient norm is cut to this'),
};

/** Optimiser of a stage, with the stage's own defaults: one key that is set leaves the others as they are. */
export const optimizerSettings = ({
  learningRate,
  weightDecay = 0.05,
  beta2 = 0.98,
}: {
  learningRate: number;
  weightDecay?: number;
  beta2?: number;
}) =>
  z
    .strictObject({
      ...optimizerKeys,
      learningRate: optimizerKeys.learningRate.default(learningRate),
      weightDecay: optimizerKeys.weightDecay.default(weightDecay),
      beta2: optimizerKeys.beta2.default(beta2),
    })
    .prefault({});
export type OptimizerSettings = z.infer<ReturnType<typeof optimizerSettings>>;

export const batchSettings = z.strictObject({
  size: z.int().positive().default(16).describe('sequences per optimiser step'),
  microBatch: z
    .int()
    .positive()
    .default(16)
    .describe('sequences per forward pass; changes memory and speed, not the result'),
});

export const guardSettings = z.strictObject({
  maxNonFiniteInRow: z
    .int()
    .positive()
    .default(5)
    .describe('stop after so many skipped non-finite steps in a row'),
});

export const runSettings = {
  run: z.string().min(1).describe('run folder; the same command continues an interrupted run'),
  seed: z.int().min(0).default(0),
  checkpointEvery: z.int().positive().default(100).describe('steps between checkpoints'),
  keepCheckpoints: z.int().positive().default(2),
  tensorboard: z.boolean().default(false).describe('also write metrics as TensorBoard event files'),
};

/**
 * A continued run may change these: another place of the run, other checkpoints, limits that stop it and moved inputs
 * leave the result of a step as it is.
 * What the inputs hold must be what it was (`hashInputs`).
 */
export const RESULT_NEUTRAL_KEYS: readonly MayDiffer[] = [
  ...(['run', 'checkpointEvery', 'keepCheckpoints', 'tensorboard'] satisfies (keyof typeof runSettings)[]),
  // These say when a run ends or goes back. Whoever was stopped by one continues with another.
  ...['watchdogs', 'maxRollBacks', 'maxMissingRewardShare', 'guards'],
  // Where a server is and how it is asked; what it answers is compared with the trainer at every step.
  ...[
    ...['baseUrl', 'adapterFolder', 'adapterFolderOnServer', 'concurrency'],
    ...['timeoutSeconds', 'stallSeconds', 'retries', 'firstDelaySeconds'],
  ].map((key) => `engine.${key}`),
  ...['model', 'preset', 'dataset', 'rows', 'teacherRows'].map((movedInput) => ({ movedInput })),
];

/** What the miniature's tower and projector do during a stage. */
export const freezeSettings = (defaults: { vision: boolean; merger: boolean }) =>
  z
    .strictObject({
      vision: z.boolean().default(defaults.vision).describe('keep the vision tower as it is'),
      merger: z.boolean().default(defaults.merger).describe('keep the merger (projector) as it is'),
    })
    .prefault({});

/** How a large model is trained in little memory; the miniature needs neither. */
export const memorySettings = {
  lora: loraSettingsSchema
    .nullable()
    .default(null)
    .describe(
      'train low-rank adapters and nothing else; {} for the usual ones. null trains the whole model, or goes on with the adapter where "model" is one',
    ),
  gradientCheckpointing: z
    .boolean()
    .default(false)
    .describe('compute each block a second time in the backward pass instead of keeping its activations'),
  pictureCache: z
    .int()
    .min(0)
    .nullable()
    .default(null)
    .describe(
      'megabytes for pictures as a frozen vision tower sees them, so that each is encoded once; null: 512 with an adapter, none without',
    ),
};

/** Cut pictures into views instead of shrinking them whole; null keeps what the model's processor says. */
export const viewSettings = z
  .strictObject({
    shortSide: z.int().positive().default(384).describe('pictures are scaled to this shorter side first'),
    crop: z.int().positive().default(224).describe('side of a view, a multiple of the merged patch'),
    count: z
      .union(VIEW_COUNTS.map((count) => z.literal(count)))
      .default(5)
      .describe('views averaged when a picture is scored; training takes one at a random place'),
  })
  .nullable()
  .default(null)
  .describe('square views at a higher resolution instead of the whole picture; saved with the model');
