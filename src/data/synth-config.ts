import { z } from 'zod';
import { DISTORTION_SET_NAMES, SYNTHESIZED_DISTORTIONS } from './distortion-types.ts';
import { RATER_MODEL } from './raters.ts';

const share = z.number().min(0).max(1);
const count = z.number().int().min(0).max(1_000_000);

/** A type or level named twice would give two images one id. */
const isDistinct = (values: readonly (string | number)[]): boolean => new Set(values).size === values.length;

const fromSchema = z
  .strictObject({
    folder: z.string().min(1).describe('pristine photographs; each is kept and distorted'),
    types: z
      .array(z.enum(SYNTHESIZED_DISTORTIONS))
      .min(1)
      .refine(isDistinct, { error: 'names a type twice' })
      .optional()
      .describe('distortion types; default those of distortionSet, or kadid25'),
    typesPerPhotograph: z
      .number()
      .int()
      .min(1)
      .optional()
      .describe('types drawn at random for each photograph, as in KADIS-700k; default all of them'),
    levels: z
      .array(z.union([z.literal(1), z.literal(2), z.literal(3), z.literal(4), z.literal(5)]))
      .min(1)
      .refine(isDistinct, { error: 'names a level twice' })
      .default([1, 2, 3, 4, 5]),
    longestEdge: z
      .number()
      .int()
      .min(64)
      .max(4096)
      .default(512)
      .describe('larger photographs are scaled down to this edge'),
    validationShare: share.default(0.1).describe('share of the photographs'),
    testShare: share.default(0.1),
    scores: z
      .enum(['raters', 'ssim', 'none'])
      .default('raters')
      .describe('pseudo-MOS: of the rater model; 1 + 4 SSIM to the photograph; or none'),
  })
  .refine(({ validationShare, testShare }) => validationShare + testShare <= 1, {
    message: 'validationShare and testShare are more than 1 together',
  });
export type FromConfig = z.infer<typeof fromSchema>;

/** Configuration of generated data. Unknown keys fail. */
export const synthesisConfigSchema = z.strictObject({
  output: z.string().min(1).describe('folder to write the data set to'),
  seed: z.number().int().default(0).describe('same seed, same bytes'),
  size: z.number().int().min(32).max(512).default(112).describe('edge of the square images in pixels'),
  counts: z
    .strictObject({
      train: count.default(4000),
      validation: count.default(400),
      test: count.default(1000),
      cross: count.default(1000).describe('images with distortion types never used for training'),
    })
    .prefault({})
    .describe('images in each split'),
  imagesPerScene: z
    .number()
    .int()
    .min(1)
    .max(64)
    .default(1)
    .describe('crops and distortions made of each training scene; the other splits use one'),
  doubleDistortionShare: share.default(0.15).describe('share of distorted images with two distortions'),
  pristineShare: share.default(0.07).describe('share of undistorted images; none in the cross split'),
  raters: z
    .number()
    .int()
    .min(1)
    .max(1000)
    .default(RATER_MODEL.raters)
    .describe('simulated raters per image'),
  photos: z.string().min(1).optional().describe('folder of undistorted photographs to crop scenes from'),
  photoShare: share.default(0.3).describe('share of scenes taken from the photographs, where there are any'),
  distortionSet: z
    .enum(DISTORTION_SET_NAMES)
    .optional()
    .describe(
      'types to use: base (default), kadid25, capture or all; the others have no words in the lexicon',
    ),
  from: fromSchema
    .optional()
    .describe(
      'distort whole photographs instead of making scenes; counts, size and photos do not apply then',
    ),
});

export type SynthesisConfig = z.infer<typeof synthesisConfigSchema>;
