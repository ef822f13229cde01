import { ConfigError, InputError } from '../../core/index.ts';
import type { ImageProcessorConfig, ProcessedImage } from '../image-processor.ts';
import { smartResize } from '../smart-resize.ts';

/**
 * A picture without content, of the size that a model's processor makes of `size`: graphs depend on nothing else.
 * ConfigError for a size that it takes no pictures of.
 */
export function blankPicture(
  processor: ImageProcessorConfig,
  size: { width: number; height: number },
): ProcessedImage {
  const { patchSize, temporalPatchSize } = processor;
  const { width, height } = processedSize(processor, size);
  const grid = { w: width / patchSize, h: height / patchSize };
  return { grid, patches: new Float32Array(grid.w * grid.h * 3 * temporalPatchSize * patchSize ** 2) };
}

function processedSize(
  { patchSize, mergeSize, minPixels, maxPixels, views }: ImageProcessorConfig,
  { width, height }: { width: number; height: number },
): { width: number; height: number } {
  if (views !== null) return { width: views.crop, height: views.crop };
  try {
    return smartResize(height, width, { factor: patchSize * mergeSize, minPixels, maxPixels });
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new ConfigError(`pictures of ${width}x${height} cannot be exported: ${error.message}`, {
      hint: 'choose another size: picture.width, picture.height',
      cause: error,
    });
  }
}
