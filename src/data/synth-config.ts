import { z } from 'zod';
import { RATER_MODEL } from './raters.ts';

const share = z.number().min(0).max(1);
const count = z.number().int().min(0).max(1_000_000);

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
});

export type SynthesisConfig = z.infer<typeof synthesisConfigSchema>;
