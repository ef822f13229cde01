import { z } from 'zod';
import { loraSettingsSchema } from '../../model/index.ts';
import { DEVICE_NAMES } from './devices.ts';

export const PLAN_STAGES = ['cold-start', 'grpo', 'score'] as const;

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
    .strictObject({ width: z.int().positive().default(512), height: z.int().positive().default(384) })
    .prefault({})
    .describe('size of the pictures, before the model’s processor'),
  maxPixels: z
    .int()
    .positive()
    .nullable()
    .default(null)
    .describe('in place of the processor’s own max_pixels'),
  pictures: z.int().min(0).default(0).describe('pictures of the data set, which a stage keeps decoded'),
  promptTokens: z.int().positive().default(40).describe('tokens of the question and the template'),
  responseTokens: z.int().positive().default(80).describe('tokens of an answer'),
  lora: loraSettingsSchema.nullable().default(null),
  freeze: z
    .strictObject({ vision: z.boolean().default(true), merger: z.boolean().default(true) })
    .prefault({}),
  gradientCheckpointing: z.boolean().default(false),
  batch: z.int().positive().default(16).describe('cold start and score: sequences per step'),
  microBatch: z.int().positive().default(16).describe('sequences per forward pass of an update'),
  promptsPerStep: z.int().positive().default(16),
  groupSize: z.int().positive().default(8),
  klCoefficient: z.number().min(0).default(0.01).describe('above 0 GRPO keeps the starting policy as well'),
});
export type PlanConfig = z.infer<typeof planConfigSchema>;
