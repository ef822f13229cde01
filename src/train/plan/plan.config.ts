import { z } from 'zod';
import { loraSettingsSchema } from '../../model/index.ts';
import { DEVICE_NAMES } from './devices.ts';

export const PLAN_STAGES = ['cold-start', 'grpo', 'score'] as const;

/** Far beyond what can be run: a slip of the keyboard is named, and sums stay exact enough to be read. */
const count = (most: number) => z.int().positive().max(most);

export const planConfigSchema = z.strictObject({
  model: z
    .string()
    .min(1)
    .describe('model folder with config.json, weights or not: models/qwen2.5-vl-7b is one without'),
  stage: z.enum(PLAN_STAGES).default('grpo'),
  device: z.enum(DEVICE_NAMES).default('cpu'),
  precision: z
    .enum(['float32', 'bfloat16'])
    .default('float32')
    .describe('type of the weights; float32 is what the engine computes with, bfloat16 what others do'),
  picture: z
    .strictObject({ width: count(1e6).default(512), height: count(1e6).default(384) })
    .prefault({})
    .describe('size of the pictures, before the model’s processor'),
  maxPixels: z
    .int()
    .positive()
    .nullable()
    .default(null)
    .describe('in place of the processor’s own max_pixels'),
  pictures: z
    .int()
    .min(0)
    .max(1e9)
    .default(0)
    .describe('pictures of the data set, which a stage keeps decoded'),
  promptTokens: count(1e6).default(40).describe('tokens of the question and the template'),
  responseTokens: count(1e6).default(80).describe('tokens of an answer'),
  lora: loraSettingsSchema.nullable().default(null),
  freeze: z
    .strictObject({
      vision: z.boolean().nullable().default(null),
      merger: z.boolean().nullable().default(null),
    })
    .prefault({})
    .describe('null: as the stage does where nothing is set'),
  gradientCheckpointing: z.boolean().default(false),
  batch: count(1e6).default(16).describe('cold start and score: sequences per step'),
  microBatch: count(1e6).default(16).describe('sequences per forward pass of an update'),
  promptsPerStep: count(1e6).default(16),
  groupSize: count(1e6).default(8),
  klCoefficient: z.number().min(0).default(0.01).describe('above 0 GRPO keeps the starting policy as well'),
});
export type PlanConfig = z.infer<typeof planConfigSchema>;
