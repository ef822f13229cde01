import { z } from 'zod';
import { batchSettings, guardSettings, optimizerSettings, runSettings } from './settings.ts';

const phase = {
  batch: batchSettings.prefault({}),
  flip: z.boolean().default(true).describe('mirror half of the pictures'),
};

export const baseConfigSchema = z.strictObject({
  ...runSettings,
  preset: z.string().min(1).describe('model folder with config.json and tokenizer; weights are made anew'),
  dataset: z
    .string()
    .min(1)
    .describe('data set folder; its train split is learnt, its validation split watched'),
  whiteningPatches: z.int().positive().default(20_000).describe('patches that shape the patch embedding'),
  vision: z
    .strictObject({
      ...phase,
      steps: z.int().min(0).default(12_000),
      crop: z.int().positive().default(84).describe('side of the random crops, a multiple of 28'),
      optimizer: optimizerSettings({ learningRate: 1.2e-3 }),
    })
    .prefault({}),
  caption: z
    .strictObject({
      ...phase,
      steps: z.int().min(0).default(4_000),
      headWeight: z.number().min(0).default(0.3).describe('weight of the vision heads beside the captions'),
      optimizer: optimizerSettings({ learningRate: 1e-3 }),
      visionLearningRateScale: z.number().positive().default(0.5),
    })
    .prefault({}),
  severityWeight: z.number().min(0).default(3).describe('weight of the severity regression'),
  contentWeight: z.number().min(0).default(0.1).describe('weight of naming the kind of scene'),
  validateEvery: z.int().positive().default(500),
  validationImages: z.int().positive().default(500),
  guards: guardSettings.prefault({}),
});
export type BaseConfig = z.infer<typeof baseConfigSchema>;
