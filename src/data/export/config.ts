import { z } from 'zod';
import { SPLITS } from '../records.ts';
import { EXPORT_FORMAT_NAMES } from './formats.ts';

/** Configuration of an export. Unknown keys fail. */
export const exportConfigSchema = z.strictObject({
  dataset: z.string().min(1).describe('data set folder with records.jsonl'),
  format: z.enum(EXPORT_FORMAT_NAMES).describe('whose rows to write'),
  output: z.string().min(1).describe('folder to write one file for each split to'),
  answers: z
    .string()
    .min(1)
    .optional()
    .describe('accepted.jsonl of a distillation: one row for each answer, with its text'),
  splits: z
    .array(z.enum(SPLITS))
    .min(1)
    .default([...SPLITS])
    .describe('splits to write'),
  prompt: z.string().min(1).default('student/quality.v1').describe('shipped prompt that the rows ask'),
  paths: z
    .enum(['absolute', 'relative', 'recorded'])
    .default('absolute')
    .describe('image paths: absolute, relative to the output, or as records.jsonl has them'),
});
export type ExportConfig = z.infer<typeof exportConfigSchema>;
