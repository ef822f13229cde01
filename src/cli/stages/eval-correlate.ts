import { z } from 'zod';
import { correlateFile, formatCorrelation } from '../../evaluate/index.ts';
import type { Stage } from '../stage-command.ts';

export const correlateConfigSchema = z.strictObject({
  path: z.string().min(1).describe('CSV file with a header line'),
  prediction: z.string().min(1).describe('column of predicted scores'),
  target: z.string().min(1).describe('column of subjective scores, MOS or DMOS'),
  by: z.string().min(1).nullable().default(null).describe('column whose values are measured each alone too'),
  lowerBetter: z.boolean().default(false).describe('the subjective scores are lower-better'),
  fit: z.enum(['logistic4', 'logistic5', 'none']).default('logistic4'),
  delimiter: z.string().length(1).default(','),
  resamples: z.int().min(0).default(1000).describe('bootstrap resamples; 0 for no intervals'),
  seed: z.int().min(0).default(0),
  json: z.string().min(1).nullable().default(null).describe('file to write the report to as JSON'),
});
export type CorrelateConfig = z.infer<typeof correlateConfigSchema>;

export const evalCorrelateStage: Stage<CorrelateConfig> = {
  schema: correlateConfigSchema,
  async run({ by, json, ...config }, { print }) {
    const report = await correlateFile({
      ...config,
      ...(by === null ? {} : { by }),
      ...(json === null ? {} : { json }),
    });
    print(formatCorrelation(report));
  },
};
