import { z } from 'zod';

const share = z.number().min(0).max(0.9);

/** Configuration of "data split". Unknown keys fail. */
export const splitConfigSchema = z
  .strictObject({
    data: z.string().min(1).describe('data set folder'),
    output: z.string().min(1).describe('folder to write the splits to, each a data set folder of its own'),
    rule: z
      .enum(['group', 'official'])
      .default('group')
      .describe('group: by group and reference, at random; official: the splits that the records have'),
    repeats: z
      .number()
      .int()
      .min(1)
      .max(1000)
      .optional()
      .describe('splits to draw; default 10, and 1 for official'),
    testShare: share
      .default(0.2)
      .describe('share of the images; whole groups, so it is met as nearly as they allow'),
    validationShare: share.default(0).describe('share of the images that are not test'),
    strata: z
      .number()
      .int()
      .min(1)
      .max(100)
      .default(1)
      .describe(
        'bands of mean MOS, equally many groups each, in which the shares are met; 1: not stratified',
      ),
    seed: z.number().int().default(0).describe('same seed, same splits'),
    hashImages: z
      .boolean()
      .default(true)
      .describe('read the images that are there, to keep equal files in one split'),
    paths: z.enum(['relative', 'absolute']).default('relative').describe('how records refer to the images'),
  })
  .refine(({ rule, repeats }) => rule === 'group' || repeats === undefined || repeats === 1, {
    path: ['repeats'],
    error: 'the official split is one: leave repeats out',
  })
  .refine(({ rule, testShare, validationShare }) => rule === 'official' || testShare + validationShare > 0, {
    path: ['testShare'],
    error: 'testShare and validationShare are both 0: there is nothing to draw',
  });
export type SplitConfig = z.infer<typeof splitConfigSchema>;
