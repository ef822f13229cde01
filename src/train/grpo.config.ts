import { z } from 'zod';
import { iqaRubricConfigSchema } from '../env/index.ts';
import { SCORING_MODES } from '../scoring/index.ts';
import { freezeSettings, guardSettings, memorySettings, optimizerSettings, runSettings } from './settings.ts';

export const grpoConfigSchema = z.strictObject({
  ...runSettings,
  model: z.string().min(1).describe('cold-start checkpoint: the starting policy and the KL reference'),
  dataset: z
    .string()
    .min(1)
    .describe('data set folder with records.jsonl; the train split gives the prompts'),
  teacherRows: z
    .string()
    .nullable()
    .default(null)
    .describe('teacher rows for the reward that compares named distortions with the teacher’s'),
  prompt: z
    .string()
    .min(1)
    .default('student/quality.v1')
    .describe('shipped prompt, the one of the cold start'),
  steps: z.int().positive().default(200).describe('rollout batches'),
  promptsPerStep: z.int().positive().default(16),
  groupSize: z.int().min(2).default(8).describe('G: completions per prompt'),
  updatesPerBatch: z.int().positive().default(1).describe('optimiser steps on each rollout batch (mu)'),
  microBatch: z.int().positive().default(64).describe('sequences per forward pass; not the result'),
  temperature: z.number().positive().default(1),
  maxNewTokens: z.int().positive().default(80),
  truncated: z
    .enum(['keep', 'mask', 'penalise'])
    .default('mask')
    .describe('completions cut by maxNewTokens: train on them, leave them out of the loss, or reward 0'),
  rubric: iqaRubricConfigSchema.prefault({}),
  advantage: z.strictObject({ scale: z.enum(['group', 'batch', 'none']).default('group') }).prefault({}),
  loss: z
    .strictObject({
      clipLow: z.number().positive().lt(1).default(0.2),
      clipHigh: z.number().positive().default(0.2),
      klCoefficient: z.number().min(0).default(0.04),
      entropyCoefficient: z.number().min(0).default(0),
      aggregation: z.enum(['token-mean', 'sequence-mean', 'constant']).default('token-mean'),
    })
    .prefault({}),
  optimizer: optimizerSettings({ learningRate: 1e-4, weightDecay: 0, beta2: 0.95 }),
  freeze: freezeSettings({ vision: true, merger: false }),
  ...memorySettings,
  flip: z.boolean().default(true),
  validateEvery: z.int().positive().default(40),
  validationImages: z.int().positive().default(200),
  validationMode: z.enum(SCORING_MODES).default('greedy').describe('how validation reads scores'),
  ratioTolerance: z
    .number()
    .positive()
    .default(0.02)
    .describe(
      'largest |ratio - 1| allowed before the first update of a batch: sampler and trainer must agree',
    ),
  maxMissingRewardShare: z
    .number()
    .min(0)
    .lt(1)
    .default(0.2)
    .describe('share of failed rewards in a batch that stops the run'),
  guards: guardSettings.prefault({}),
});
export type GrpoConfig = z.infer<typeof grpoConfigSchema>;
