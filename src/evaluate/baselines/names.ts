/**
 * What needs no learning of a network, to be beaten:
 * - `mean`: the mean MOS of the training images for every image. It has no correlation, but an error.
 * - `file-size`: bits of the file per pixel.
 * - `sharpness`: log variance of the Laplacian of the luma.
 * - `contrast`: standard deviation of the luma.
 * - `colorfulness`: Hasler and Suesstrunk's measure (2003).
 * - `statistics`: ridge regression on these and on the natural-scene statistics of BRISQUE (Mittal et al., 2012).
 *   It is ours: the published BRISQUE feeds the same features to a support vector regression trained on LIVE.
 */
export const BASELINES = [
  'mean',
  'file-size',
  'sharpness',
  'contrast',
  'colorfulness',
  'statistics',
] as const;
export type BaselineName = (typeof BASELINES)[number];
