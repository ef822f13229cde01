import type { RgbImage } from '../core/index.ts';

/** An image in floating point while it is being worked on: interleaved RGB, row-major, nominal range 0 to 255. */
export interface Raster {
  data: Float32Array;
  width: number;
  height: number;
}

export const createRaster = (width: number, height: number): Raster => ({
  data: new Float32Array(width * height * 3),
  width,
  height,
});

export const toRaster = (image: RgbImage): Raster => ({
  data: Float32Array.from(image.data),
  width: image.width,
  height: image.height,
});

/** Rounds to the nearest byte (halves to even) and clips to 0..255. */
export function toImage(raster: Raster): RgbImage {
  const clamped = new Uint8ClampedArray(raster.data);
  return { data: new Uint8Array(clamped.buffer), width: raster.width, height: raster.height };
}

/** A copy of the rectangle with its upper left corner at (x, y). The rectangle must lie inside the image. */
export function cropImage(image: RgbImage, x: number, y: number, width: number, height: number): RgbImage {
  if (x < 0 || y < 0 || x + width > image.width || y + height > image.height) {
    throw new RangeError(
      `cropImage: ${width}x${height} at (${x}, ${y}) leaves the ${image.width}x${image.height} image`,
    );
  }
  const data = new Uint8Array(width * height * 3);
  for (let row = 0; row < height; row++) {
    const start = ((y + row) * image.width + x) * 3;
    data.set(image.data.subarray(start, start + width * 3), row * width * 3);
  }
  return { data, width, height };
}

/** Left-right mirror image. */
export function mirrorImage(image: RgbImage): RgbImage {
  const { width, height } = image;
  const data = new Uint8Array(image.data.length);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const from = (y * width + x) * 3;
      const to = (y * width + width - 1 - x) * 3;
      data[to] = image.data[from]!;
      data[to + 1] = image.data[from + 1]!;
      data[to + 2] = image.data[from + 2]!;
    }
  }
  return { data, width, height };
}

/** Luma of an RGB triple by the weights of ITU-R BT.601, which JPEG uses too. */
export const luma = (red: number, green: number, blue: number): number =>
  0.299 * red + 0.587 * green + 0.114 * blue;
