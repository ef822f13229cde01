import { z } from 'zod';
import { FINDING_KINDS, type FindingKind } from './findings.ts';

const kinds = Object.keys(FINDING_KINDS) as [FindingKind, ...FindingKind[]];

/** Configuration of "data validate". Unknown keys fail. */
export const validateConfigSchema = z.strictObject({
  data: z.string().min(1).describe('data set folder, or a folder of images'),
  output: z
    .string()
    .min(1)
    .optional()
    .describe('folder for report.html, report.json and cache.jsonl; default <data>-validation'),
  pixelLimit: z
    .number()
    .int()
    .min(1)
    .max(16383 * 16383)
    .default(100_000_000)
    .describe('an image that decodes to more pixels is named as a decompression bomb'),
  nearBits: z
    .number()
    .int()
    .min(0)
    .max(16)
    .default(4)
    .describe('look-alikes differ in at most so many of 64 bits of their perceptual hash'),
  ignore: z.array(z.enum(kinds)).default([]).describe('kinds of findings to leave out'),
  failOn: z
    .enum(['problem', 'warning', 'never'])
    .default('problem')
    .describe('least severity that ends the command with an error'),
  reuse: z.boolean().default(true).describe('trust what the cache knows of files of the same size and time'),
  json: z.boolean().default(false).describe('print the report as JSON'),
});
export type ValidateConfig = z.infer<typeof validateConfigSchema>;
