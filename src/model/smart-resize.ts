import { InputError } from '../core/index.ts';

/** Python's round(): halves go to the even neighbour. JavaScript's Math.round sends them up. */
export function roundHalfToEven(value: number): number {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}

export interface ResizeLimits {
  /** Both sides become multiples of this: patch size x merge size. */
  factor: number;
  /** Bounds of the area in pixels. */
  minPixels: number;
  maxPixels: number;
}

const MAXIMUM_ASPECT_RATIO = 200;

/**
 * The size Qwen2.5-VL scales an image to: sides are multiples of `factor`, the area lies within the limits,
 * the aspect ratio changes as little as that allows.
 */
export function smartResize(
  height: number,
  width: number,
  limits: ResizeLimits,
): { height: number; width: number } {
  const { factor, minPixels, maxPixels } = limits;
  if (!(height >= 1 && width >= 1)) throw new InputError(`the image is ${width}x${height}, it is empty`);
  if (Math.max(height, width) / Math.min(height, width) > MAXIMUM_ASPECT_RATIO) {
    throw new InputError(`the image is ${width}x${height}, an aspect ratio above ${MAXIMUM_ASPECT_RATIO}`, {
      hint: 'crop the image',
    });
  }
  // A side below half the factor gives 0, and with it the lower limit's branch. (qwen_vl_utils takes one factor
  // here instead; transformers, whose sizes these are, does not.)
  let h = roundHalfToEven(height / factor) * factor;
  let w = roundHalfToEven(width / factor) * factor;
  if (h * w > maxPixels) {
    const shrink = Math.sqrt((height * width) / maxPixels);
    h = Math.max(factor, Math.floor(height / shrink / factor) * factor);
    w = Math.max(factor, Math.floor(width / shrink / factor) * factor);
  } else if (h * w < minPixels) {
    const grow = Math.sqrt(minPixels / (height * width));
    h = Math.ceil((height * grow) / factor) * factor;
    w = Math.ceil((width * grow) / factor) * factor;
  }
  return { height: h, width: w };
}
