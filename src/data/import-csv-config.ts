import { z } from 'zod';

const share = z.number().min(0).max(0.9);

/** Configuration of an import. Unknown keys fail. */
export const importCsvConfigSchema = z.strictObject({
  csv: z.string().min(1).describe('table with a header row, one image a row'),
  imageColumn: z
    .string()
    .min(1)
    .describe('column with the file name, or (Parquet) with the pictures themselves'),
  mosColumn: z.string().min(1).describe('column with the mean opinion score'),
  stdColumn: z.string().min(1).optional().describe('column with the standard deviation of the ratings'),
  splitColumn: z.string().min(1).optional().describe('column with train, validation or test'),
  groupColumn: z
    .string()
    .min(1)
    .optional()
    .describe('column that names what images have in common (scene, reference, person): one split for all'),
  imagesFolder: z
    .string()
    .min(1)
    .optional()
    .describe('folder the file names are relative to; none where the table holds the pictures'),
  mosRange: z
    .tuple([z.number(), z.number()])
    .refine(([low, high]) => low < high, { error: 'lowest must be below highest' })
    .describe('lowest and highest possible score of the scale'),
  direction: z.enum(['higher', 'lower']).default('higher').describe('which end of the scale is better'),
  output: z
    .string()
    .min(1)
    .describe(
      'folder to write the data set to; image files stay where they are, pictures of a table go into it',
    ),
  name: z.string().min(1).optional().describe('name of the data set, default the name of the output folder'),
  paths: z.enum(['relative', 'absolute']).default('relative').describe('how records refer to the images'),
  validationShare: share
    .default(0.1)
    .describe('share of the training rows moved to validation, where the table names no validation rows'),
  testShare: share.default(0.2).describe('share of the rows used as test, where there is no split column'),
  allowDuplicates: z
    .boolean()
    .default(false)
    .describe('import equal files though the split column puts them into different splits'),
  badRows: z.enum(['fail', 'skip']).default('fail').describe('what to do when some rows cannot be used'),
  seed: z.number().int().default(0).describe('decides which rows are moved'),
});

export type ImportCsvConfig = z.infer<typeof importCsvConfigSchema>;
