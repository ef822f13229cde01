import { z } from 'zod';
import { SCORING_MODES } from '../scoring/index.ts';
import {
  batchSettings,
  freezeSettings,
  guardSettings,
  memorySettings,
  optimizerSettings,
  runSettings,
  viewSettings,
} from './settings.ts';

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
  ...memorySettings,
  visionLearningRateScale: z
    .number()
    .positive()
    .default(0.3)
    .describe('learning rate of the vision tower as a share of the language model’s'),
  flip: z.boolean().default(true).describe('mirror half of the training pictures'),
  views: viewSettings,
  scoreHeadWeight: z
    .number()
    .min(0)
    .default(0)
    .describe('weight of a temporary head that tells the teacher’s score from the image tokens; 0 for none'),
  validateEvery: z.int().positive().default(200).describe('steps between validations'),
  validationImages: z
    .int()
    .positive()
    .default(200)
    .describe('images of the validation split scored for SRCC and PLCC'),
  validationMode: z
    .enum(SCORING_MODES)
    .default('greedy')
    .describe('how validation reads scores; expected is steadier where few images are validated'),
  maxNewTokens: z.int().positive().default(80),
  guards: guardSettings.prefault({}),
});
export type ColdStartConfig = z.infer<typeof coldStartConfigSchema>;
