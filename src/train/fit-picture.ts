import { InputError, type RgbImage } from '../core/index.ts';
import { type ImageProcessorConfig, resizeBicubic, scaleForViews, smartResize } from '../model/index.ts';
import { requireCrop } from './pictures.ts';

/**
 * Prepares pictures as they are loaded: one that the processor refuses (an aspect ratio above 200) is an
 * InputError at once, and one above the processor's largest area is kept at the size it would be scaled to for
 * every use anyway, so that a set of large photographs fits in memory. `preprocess` gives the same values for
 * what this returns as for the original. A processor that looks at views gets the picture they are cut from.
 */
export function fitToProcessor(processor: ImageProcessorConfig): (image: RgbImage) => RgbImage {
  const limits = {
    factor: processor.patchSize * processor.mergeSize,
    minPixels: processor.minPixels,
    maxPixels: processor.maxPixels,
  };
  const { views } = processor;
  if (views !== null) return (image) => scaleForViews(image, views);
  return (image) => {
    const target = smartResize(image.height, image.width, limits);
    if (image.width * image.height <= limits.maxPixels) return image;
    // A very long picture can come out above the limit, and would be scaled a second time.
    const settled =
      target.height * target.width <= limits.maxPixels && target.height * target.width >= limits.minPixels;
    if (!settled || !isAllowedShape(target)) return image;
    return resizeBicubic(image, target.height, target.width);
  };
}

/** Rounding to whole blocks can push a picture at the edge of the allowed aspect ratio over it. */
const isAllowedShape = ({ height, width }: { height: number; width: number }): boolean =>
  Math.max(height, width) <= 200 * Math.min(height, width);

/** The base stage crops and never resizes: pictures must be whole blocks, not wider than high, and hold the crop. */
export function requireWholeBlocks(
  { patchSize, mergeSize }: ImageProcessorConfig,
  crop: number,
): (image: RgbImage) => RgbImage {
  const unit = patchSize * mergeSize;
  return (image) => {
    const { width, height } = image;
    requireCrop(image, crop);
    if (width % unit !== 0 || height % unit !== 0 || height < width) {
      throw new InputError(
        `the image is ${width}x${height}, allowed are squares of whole blocks of ${unit} pixels`,
        { hint: `generate them: q-ponder data synth --set size=<multiple of ${unit}>` },
      );
    }
    return image;
  };
}
