import { ConfigError, type RgbImage, type Rng } from '../core/index.ts';
import { cropImage, type ImageRecord, mirrorImage } from '../data/index.ts';
import {
  type ImageProcessorConfig,
  type ProcessedImage,
  pixelsToPatches,
  preprocess,
} from '../model/index.ts';

/** Images of one split in memory, with what is known about them. */
export interface Examples {
  records: ImageRecord[];
  images: RgbImage[];
}

export function requireCrop({ width, height }: RgbImage, side: number): void {
  if (width >= side && height >= side) return;
  throw new ConfigError(`a crop of ${side} does not fit an image of ${width}x${height}`, {
    hint: 'lower it with --set vision.crop=<side>, or generate larger images',
  });
}

/** A square crop of the given side at a random place, half of them mirrored on request. */
export function randomCrop(image: RgbImage, side: number, flip: boolean, rng: Rng): RgbImage {
  requireCrop(image, side);
  const x = rng.integer(image.width - side + 1);
  const y = rng.integer(image.height - side + 1);
  const crop = image.width === side && image.height === side ? image : cropImage(image, x, y, side, side);
  return flip && rng.uniform() < 0.5 ? mirrorImage(crop) : crop;
}

/**
 * The pixels of a training picture as the processor is handed them: mirrored half of the time; a cut at a random
 * place where the processor looks at views (the picture being scaled for them already, see `fitToProcessor`),
 * otherwise whole.
 */
export function trainingPixels(
  image: RgbImage,
  flip: boolean,
  { views }: ImageProcessorConfig,
  rng: Rng,
): RgbImage {
  if (views !== null) return randomCrop(image, views.crop, flip, rng);
  return flip && rng.uniform() < 0.5 ? mirrorImage(image) : image;
}

/** A picture as the model sees it in training. */
export function trainingPicture(
  image: RgbImage,
  flip: boolean,
  processor: ImageProcessorConfig,
  rng: Rng,
): ProcessedImage {
  const pixels = trainingPixels(image, flip, processor, rng);
  return processor.views !== null ? pixelsToPatches(pixels, processor) : preprocess(pixels, processor);
}
