import { z } from 'zod';
import {
  correlateFiles,
  exportCorrelation,
  formatCorrelation,
  requireOwnFiles,
} from '../../evaluate/index.ts';
import { packageInfo } from '../package-info.ts';
import type { Stage } from '../stage-command.ts';

const path = z.string().min(1).nullable().default(null);
const column = z.string().min(1);

export const correlateConfigSchema = z.strictObject({
  files: z.array(column).min(1).describe('CSV, JSON Lines or Parquet files'),
  predictions: z.array(column).min(1).describe('columns of predicted scores'),
  target: column.describe('column of subjective scores, MOS or DMOS'),
  by: column.nullable().default(null).describe('column whose values are measured each alone too'),
  lowerBetter: z.boolean().default(false).describe('the subjective scores are lower-better'),
  labels: path.describe('second table with the subjective scores'),
  id: column.nullable().default(null).describe('column that identifies the images'),
  labelsId: column.nullable().default(null).describe('its name in the labels, if another'),
  fit: z.enum(['logistic4', 'logistic5', 'none']).default('logistic4'),
  delimiter: z.string().length(1).nullable().default(null).describe('CSV only; default "," (a tab for .tsv)'),
  resamples: z
    .int()
    .max(1_000_000)
    .refine((count) => count === 0 || count >= 100, {
      error: 'allowed is 0 for no intervals, or 100 and more: the ends of an interval need them',
    })
    .default(1000)
    .describe('bootstrap resamples, at least 100; 0 for no intervals'),
  level: z.number().gt(0).lt(1).default(0.95).describe('coverage of the intervals'),
  seed: z.int().min(0).default(0),
  json: path.describe('file to write everything to as JSON'),
  csv: path.describe('file to write one line per result to'),
  latex: path.describe('file to write rows of a LaTeX table to'),
  markdown: path.describe('file to write Markdown tables to'),
});
export type CorrelateConfig = z.infer<typeof correlateConfigSchema>;

export const evalCorrelateStage: Stage<CorrelateConfig> = {
  schema: correlateConfigSchema,
  async run({ json, csv, latex, markdown, ...config }, { print }) {
    await requireOwnFiles([...config.files, ...(config.labels === null ? [] : [config.labels])], {
      json,
      csv,
      latex,
      markdown,
    });
    const report = await correlateFiles({
      ...config,
      codeVersion: packageInfo().version,
    });
    await exportCorrelation(report, { json, csv, latex, markdown });
    print(formatCorrelation(report));
  },
};
