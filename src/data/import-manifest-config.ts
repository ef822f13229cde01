import { z } from 'zod';

const share = z.number().min(0).max(0.9);

/** Configuration of an import by manifest. Unknown keys fail. */
export const importManifestConfigSchema = z
  .strictObject({
    manifest: z.string().min(1).describe('name of a shipped manifest, or path of a YAML file'),
    imagesFolder: z.string().min(1).optional().describe('folder of the images, searched with its subfolders'),
    labels: z
      .string()
      .min(1)
      .optional()
      .describe(
        'label file, or folder of the label files; default the folder of the images or the one above',
      ),
    form: z.string().min(1).optional().describe('form of the labels, where the file name does not decide'),
    output: z.string().min(1).describe('folder to write the data set to; the images stay where they are'),
    labelsOnly: z
      .boolean()
      .default(false)
      .describe('import labels without looking for images; the records are marked'),
    name: z.string().min(1).optional().describe('name of the data set, default that of the manifest'),
    range: z
      .tuple([z.number(), z.number()])
      .refine(([low, high]) => low < high, { error: 'lowest must be below highest' })
      .optional()
      .describe('lowest and highest score, in place of the manifest'),
    direction: z.enum(['higher', 'lower']).optional().describe('better end, in place of the manifest'),
    officialSplit: z.boolean().default(true).describe('use the official split where there is one'),
    validationShare: share
      .default(0.1)
      .describe('share of the training images moved to validation, where no validation split is official'),
    testShare: share.default(0.2).describe('share of the images used as test, where no split is official'),
    allowDuplicates: z
      .boolean()
      .default(false)
      .describe('import equal files though the official split puts them into different splits'),
    anyExtension: z
      .boolean()
      .default(false)
      .describe('find I01.png for the label I01.BMP, for images that were converted'),
    hashImages: z
      .boolean()
      .default(true)
      .describe('read every image to keep equal files in one split; false: only see that it is there'),
    badRows: z.enum(['fail', 'skip']).default('fail').describe('what to do when some rows cannot be used'),
    paths: z.enum(['relative', 'absolute']).default('relative').describe('how records refer to the images'),
    seed: z.number().int().default(0).describe('decides which images are moved'),
  })
  .refine(({ imagesFolder, labelsOnly }) => imagesFolder !== undefined || labelsOnly, {
    path: ['imagesFolder'],
    error: 'is needed, or --labels-only',
  });

export type ImportManifestConfig = z.infer<typeof importManifestConfigSchema>;
