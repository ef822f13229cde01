import { z } from 'zod';
import { batchSettings, freezeSettings, guardSettings, optimizerSettings, runSettings } from './settings.ts';

export const coldStartConfigSchema = z.strictObject({
  ...runSettings,
  model: z.string().min(1).describe('checkpoint folder to start from (Hugging Face layout)'),
  dataset: z.string().min(1).describe('data set folder with records.jsonl'),
  prompt: z.string().min(1).default('student/quality.v1').describe('shipped prompt that the rows answer'),
  rows: z.string().min(1).describe('teacher rows (JSONL) that q-ponder distill wrote'),
  steps: z.int().positive().default(1200),
  batch: batchSettings.prefault({}),
  optimizer: optimizerSettings({ learningRate: 1e-3 }),
  freeze: freezeSettings({ vision: false, merger: false }),
  visionLearningRateScale: z
    .number()
    .positive()
    .default(0.3)
    .describe('learning rate of the vision tower as a share of the language model’s'),
  flip: z.boolean().default(true).describe('mirror half of the training pictures'),
  validateEvery: z.int().positive().default(200).describe('steps between validations'),
  validationImages: z
    .int()
    .positive()
    .default(200)
    .describe('images of the validation split scored for SRCC and PLCC'),
  maxNewTokens: z.int().positive().default(80),
  guards: guardSettings.prefault({}),
});
export type ColdStartConfig = z.infer<typeof coldStartConfigSchema>;
