import { z } from 'zod';
import { LABEL_FORMATS } from '../readers/index.ts';
import { fieldSchema, regexSchema } from './fields.ts';

const name = z.string().regex(/^[a-z0-9][a-z0-9-]*$/, 'allowed are a-z, 0-9 and -');

const range = z
  .tuple([z.number(), z.number()])
  .refine(([low, high]) => low < high, { error: 'lowest must be below highest' });

const fileSchema = z.strictObject({
  file: z.string().min(1).describe('name of the label file; * stands for any characters'),
  except: z.array(z.string().min(1)).default([]).describe('names that * does not stand for'),
  format: z.enum(LABEL_FORMATS).optional(),
  columns: z.array(z.string()).min(1).optional().describe('names of the columns, without a header row'),
  headerRow: z.int().min(0).optional(),
  separator: z.string().min(1).optional(),
  sheet: z.string().min(1).optional(),
  rows: z.string().min(1).optional(),
  split: z.enum(['train', 'validation', 'test']).optional().describe('split of all its rows'),
  splitByName: z
    .boolean()
    .default(false)
    .describe('of several files, each name says the split of its rows: train.json, my_val.jsonl'),
});
export type ManifestFile = z.infer<typeof fileSchema>;

const exclusionSchema = z
  .strictObject({
    field: fieldSchema,
    matches: regexSchema,
    why: z.string().min(1),
  })
  .describe('rows that are no part of the data set');

/** One form in which the labels of a data set are passed on. */
export const formSchema = z.strictObject({
  id: name,
  about: z.string().min(1).optional().describe('where this form comes from'),
  files: z.array(fileSchema).describe('label files; none: the images themselves are the list'),
  join: z
    .enum(['append', 'side-by-side'])
    .default('append')
    .describe('append: files hold different rows; side-by-side: row i of each describes one image'),
  image: fieldSchema.optional().describe('name of the image file'),
  imageSequence: z
    .array(z.strictObject({ template: z.string().min(1), count: z.int().positive() }))
    .min(1)
    .optional()
    .describe('image names by the number of the row, where no file gives them; {i} counts from 1'),
  derive: z
    .record(z.string().regex(/^\$\w+$/, 'a derived column is $ and a name'), fieldSchema)
    .default({})
    .describe('columns made of others, for templates'),
  names: regexSchema
    .optional()
    .describe('matched against the image name without case; its named groups are columns $<name>'),
  mos: fieldSchema.nullable().describe('the published score; null: nobody has judged the images'),
  mosFromVotes: z.boolean().default(false).describe('the score is the mean of the votes'),
  range: range
    .optional()
    .describe('lowest and highest score, which become 1 and 5 (or 5 and 1); without one the user must say'),
  rangeIs: z
    .enum(['observed', 'scale'])
    .default('observed')
    .describe('observed: least and greatest score of the whole set; scale: ends of the rating scale'),
  direction: z.enum(['higher', 'lower']).optional().describe('which end of the range is better'),
  std: z
    .strictObject({
      field: fieldSchema,
      is: z.enum(['std', 'variance']).default('std'),
      scale: z
        .union([z.literal('mos'), range])
        .default('mos')
        .describe('scale of its own, where it has one'),
    })
    .optional(),
  raters: fieldSchema.optional().describe('how many people judged the image'),
  votes: z
    .strictObject({
      columns: z.array(z.string().min(1)).min(2).describe('one for each grade, lowest first'),
      unit: z.enum(['counts', 'shares']).default('counts'),
      grades: z.array(z.number()).min(2).describe('what each grade counts'),
    })
    .refine(({ columns, grades }) => columns.length === grades.length, {
      error: 'as many columns as grades are needed',
    })
    .optional(),
  reference: fieldSchema.optional().describe('undistorted original'),
  distortion: fieldSchema.optional().describe('what was done to it, in the words of the authors'),
  level: fieldSchema.optional().describe('how strongly, 1 being the weakest'),
  levelsWorsen: z
    .boolean()
    .default(true)
    .describe('quality falls as the level rises: checked against the direction'),
  group: fieldSchema.optional().describe('what images have in common; default the reference, else nothing'),
  split: fieldSchema.optional().describe('official split'),
  splitNames: z.record(z.string(), z.enum(['train', 'validation', 'test'])).default({}),
  splitLists: z
    .array(
      z.strictObject({
        ...fileSchema.shape,
        image: fieldSchema,
        split: z.enum(['train', 'validation', 'test']),
      }),
    )
    .default([])
    .describe('files that name the images of a split; all others are train'),
  repeatedRows: z
    .enum(['refuse', 'same'])
    .default('refuse')
    .describe('same: rows may repeat an image, as one for each answer does, if they say the same of it'),
  exclude: z.array(exclusionSchema).default([]),
  expect: z
    .strictObject({ rows: z.int().positive().optional(), images: z.int().positive().optional() })
    .default({})
    .describe('how many rows the files have, and how many images are left after exclusions'),
});
export type ManifestForm = z.infer<typeof formSchema>;

const linkSchema = z.url({ protocol: /^https?$/ });

/** What a manifest file holds once the defaults are laid under each form. Unknown keys fail. */
export const manifestSchema = z.strictObject({
  name,
  title: z.string().min(1),
  about: z.string().min(1),
  kind: z
    .enum(['authentic', 'synthetic', 'generated', 'restored', 'aesthetic', 'exchange'])
    .describe('what the pictures are; exchange: a file format that carries any data set'),
  licence: z.string().min(1).describe('as its authors put it'),
  citation: z.string().min(1),
  obtain: z.string().min(1).describe('how to get images and labels'),
  homepage: linkSchema.optional(),
  images: z.string().min(1).describe('where the images lie in what the authors ship'),
  splits: z.string().min(1).describe('official split, or the usual protocol where there is none'),
  forms: z.array(formSchema).min(1),
});
export type Manifest = z.infer<typeof manifestSchema>;
