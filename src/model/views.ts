import { InputError, type RgbImage } from '../core/index.ts';
import { resizeBicubic } from './bicubic.ts';

/** Fixed places that are looked at when a picture is scored: the centre, with the corners, or a 3 x 3 grid. */
export const VIEW_COUNTS = [1, 5, 9] as const;
export type ViewCount = (typeof VIEW_COUNTS)[number];

/**
 * Looking at square cuts instead of the whole picture shrunk to the processor's area. Noise, blur and
 * compression live in the pixels, and a model with few image tokens loses them by shrinking. Image quality
 * networks of fixed input size do the same (for instance HyperIQA, CVPR 2020, section 4.2: random cuts when
 * training, the mean over cuts when testing).
 */
export interface ViewSettings {
  /** The picture is first scaled so that its shorter side has so many pixels. */
  shortSide: number;
  /** Side of a cut in pixels, a multiple of the merged patch, at most `shortSide`. */
  crop: number;
  /** Cuts per picture when scoring. */
  count: ViewCount;
}

/** The longer side, in cuts: beyond it the cuts would leave most of the picture unseen. */
const LONGEST = 8;

/** Size that the cuts of a picture are taken from. InputError for a picture far longer than a view. */
export function requireViewable(
  { width, height }: Pick<RgbImage, 'width' | 'height'>,
  { shortSide, crop }: ViewSettings,
): { width: number; height: number } {
  const scale = shortSide / Math.min(width, height);
  const to = (side: number): number => Math.max(shortSide, Math.round(side * scale));
  const views = Math.max(to(width), to(height)) / crop;
  if (views > LONGEST) {
    throw new InputError(
      `the picture is ${width}x${height}; cut into views of ${crop} pixels its longer side may have at most ${LONGEST} of them, this one has ${views.toFixed(1)}`,
      { hint: 'cut the picture into parts, or use a model that looks at whole pictures' },
    );
  }
  return { width: to(width), height: to(height) };
}

/** A picture at the size its cuts are taken from: bicubic, the very same image where nothing changes. */
export function scaleForViews(image: RgbImage, settings: ViewSettings): RgbImage {
  const { width, height } = requireViewable(image, settings);
  return width === image.width && height === image.height ? image : resizeBicubic(image, height, width);
}

/** The fixed views of a picture, [crop x crop] each; the centre comes first. */
export function fixedViews(image: RgbImage, settings: ViewSettings): RgbImage[] {
  const scaled = scaleForViews(image, settings);
  const { crop, count } = settings;
  const right = scaled.width - crop;
  const bottom = scaled.height - crop;
  const middle = [right >> 1, bottom >> 1] as const;
  const corners = [
    [0, 0],
    [right, 0],
    [0, bottom],
    [right, bottom],
  ] as const;
  const edges = [
    [middle[0], 0],
    [0, middle[1]],
    [right, middle[1]],
    [middle[0], bottom],
  ] as const;
  const places = [middle, ...(count >= 5 ? corners : []), ...(count >= 9 ? edges : [])];
  return places.map(([x, y]) => cut(scaled, x, y, crop));
}

/**
 * The square cut with its upper left corner at (x, y).
 *
 * @param image must hold the cut
 */
function cut({ data, width }: RgbImage, x: number, y: number, side: number): RgbImage {
  const out = new Uint8Array(side * side * 3);
  for (let row = 0; row < side; row++) {
    const from = ((y + row) * width + x) * 3;
    out.set(data.subarray(from, from + side * 3), row * side * 3);
  }
  return { data: out, width: side, height: side };
}
