import { reflect } from '../convolution.ts';
import { createRaster, type Raster } from '../raster.ts';

/** Channel `c` at a position in pixels, bilinear between pixel centres, mirrored beyond the border. */
export function sampleAt(image: Raster, x: number, y: number, c: number): number {
  const left = Math.floor(x);
  const top = Math.floor(y);
  const fx = x - left;
  const fy = y - top;
  const x0 = reflect(left, image.width) * 3 + c;
  const x1 = reflect(left + 1, image.width) * 3 + c;
  const row0 = reflect(top, image.height) * image.width * 3;
  const row1 = reflect(top + 1, image.height) * image.width * 3;
  const { data } = image;
  const upper = data[row0 + x0]! * (1 - fx) + data[row0 + x1]! * fx;
  const lower = data[row1 + x0]! * (1 - fx) + data[row1 + x1]! * fx;
  return upper * (1 - fy) + lower * fy;
}

/** Every pixel taken from where `from` says; `at` is [x, y] on entry and the source position on return. */
export function warp(
  image: Raster,
  from: (at: [number, number], c: number) => void,
  perChannel = false,
): Raster {
  const { width, height } = image;
  const out = createRaster(width, height);
  const at: [number, number] = [0, 0];
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (let c = 0; c < 3; c++) {
        if (c === 0 || perChannel) {
          at[0] = x;
          at[1] = y;
          from(at, c);
        }
        out.data[(y * width + x) * 3 + c] = sampleAt(image, at[0], at[1], c);
      }
    }
  }
  return out;
}
