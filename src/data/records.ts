import { z } from 'zod';
import { ALL_DISTORTIONS } from './distortion-types.ts';
import { DETAIL_LEVELS, SCENE_KINDS } from './scenes.ts';
import { STRENGTH_RANGE } from './strength.ts';

export const SPLITS = ['train', 'validation', 'test', 'cross'] as const;
export type Split = (typeof SPLITS)[number];

const appliedSchema = z.strictObject({
  type: z.enum(ALL_DISTORTIONS),
  strength: z.number().min(0).max(STRENGTH_RANGE.highest),
  level: z.union([z.literal(1), z.literal(2), z.literal(3), z.literal(4), z.literal(5)]),
});

const contentSchema = z.strictObject({
  kind: z.enum([...SCENE_KINDS, 'photograph']),
  busyness: z.number().min(0).max(1),
  detail: z.enum(DETAIL_LEVELS),
  elements: z.array(z.string()),
});

/** One image of a data set, one line of records.jsonl. Unknown keys fail. */
export const imageRecordSchema = z.strictObject({
  /** Unique in the data set. */
  id: z.string().min(1),
  /** Path relative to the data set folder, or absolute (imported sets leave the images where they are). */
  image: z.string().min(1),
  dataset: z.string().min(1),
  split: z.enum(SPLITS),
  /** Mean opinion score on [1, 5], higher is better; null where nobody has judged the image. */
  mos: z.number().min(1).max(5).nullable(),
  /** Standard deviation of the raters' scores on the same scale, and their number; null where unknown. */
  mosStd: z.number().min(0).nullable(),
  raters: z.number().int().positive().nullable(),
  /** In order of application. Empty means pristine in generated sets, and unknown in imported ones. */
  distortions: z.array(appliedSchema),
  /** Null in imported sets. */
  content: contentSchema.nullable(),
  /** Images of one scene or source photograph share a group; a group lies in one split only. */
  group: z.string().min(1),
  source: z.enum(['synthetic', 'photograph', 'imported']),
  /** What made the image; null in imported sets. */
  generator: z.strictObject({ version: z.string(), seed: z.union([z.string(), z.number()]) }).nullable(),
  /** The score as the set published it, before it was brought to [1, 5]. */
  mosSource: z
    .strictObject({
      value: z.number(),
      range: z.tuple([z.number(), z.number()]),
      direction: z.enum(['higher', 'lower']),
      /** Standard deviation as published; its scale may differ from that of the score. */
      std: z.number().min(0).optional(),
    })
    .optional(),
  /** Votes for each grade, lowest first, as the set published them: counts or shares. */
  votes: z.array(z.number().min(0)).min(2).optional(),
  /** The undistorted original, what was done to it in the words of the set's authors, and how strongly. */
  reference: z.string().min(1).optional(),
  distortion: z.string().min(1).optional(),
  level: z.number().optional(),
  /** Licence of the data set as its authors put it. */
  licence: z.string().min(1).optional(),
  /** Labels that were imported without looking for the image, which may not be there. */
  imageUnchecked: z.literal(true).optional(),
});

export type ImageRecord = z.infer<typeof imageRecordSchema>;

export const RECORDS_FILE = 'records.jsonl';
export const DATASET_FILE = 'dataset.json';
