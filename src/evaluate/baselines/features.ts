import { stat } from 'node:fs/promises';
import { asStorageError, InputError } from '../../core/index.ts';
import { decodeImage, inParallel } from '../../data/index.ts';
import { colorfulness, laplacianVariance } from './heuristics.ts';
import { lumaOf, meanAndVariance } from './luma.ts';
import type { BaselineName } from './names.ts';
import { sceneStatistics } from './scene-statistics.ts';

/** What the baselines know of an image, by the baseline that uses it. */
export type ImageFeatures = Readonly<Record<BaselineName, readonly number[]>>;

/** Below this side the second scale of the statistics has too few pixels. */
const LEAST_SIDE = 16;

/** Features of one image file. */
export async function imageFeatures(path: string): Promise<ImageFeatures> {
  let bytes: number;
  try {
    bytes = (await stat(path)).size;
  } catch (error) {
    throw asStorageError(error, `reading image ${path}`);
  }
  const image = await decodeImage(path);
  const { width, height } = image;
  if (Math.min(width, height) < LEAST_SIDE) {
    throw new InputError(
      `${path} is ${width}x${height}: the baselines need ${LEAST_SIDE} pixels on each side`,
    );
  }
  const luma = lumaOf(image);
  const { mean, variance } = meanAndVariance(luma.data);
  const size = Math.log((8 * bytes) / (width * height));
  const sharp = Math.log(laplacianVariance(luma) + 1);
  const contrast = Math.sqrt(variance);
  const color = colorfulness(image);
  return {
    mean: [],
    'file-size': [size],
    sharpness: [sharp],
    contrast: [contrast],
    colorfulness: [color],
    statistics: [size, sharp, contrast, color, mean, ...sceneStatistics(luma)],
  };
}

/** Features of many image files, in order; two images are in memory at a time. */
export async function featuresOf(
  paths: readonly string[],
  options: { signal?: AbortSignal | undefined; onDone?: (done: number) => void } = {},
): Promise<ImageFeatures[]> {
  const features: ImageFeatures[] = new Array(paths.length);
  let done = 0;
  await inParallel(paths.length, 2, async (i) => {
    options.signal?.throwIfAborted();
    features[i] = await imageFeatures(paths[i]!);
    options.onDone?.(++done);
  });
  return features;
}
