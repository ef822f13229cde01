import type { Rng } from '../../core/index.ts';
import { convolveSeparable, gaussianKernel } from '../convolution.ts';
import { createRaster, type Raster } from '../raster.ts';
import { atStrength, type StrengthCurve } from '../strength.ts';

/** Edge of a block in pixels. */
export const BLOCK_SIZE: StrengthCurve = [1.3, 1.7, 2.3, 3.1, 4.3, 6];
/** How much of the difference to the blurred image is added. */
export const SHARPEN_AMOUNT: StrengthCurve = [0.35, 0.9, 1.7, 2.9, 4.5, 6.8];

export const SHARPEN_SIGMA = 1.2;

/** Square blocks of constant colour, each the mean of the pixels it covers, the grid at a random phase. */
export function pixelation(image: Raster, strength: number, rng: Rng): Raster {
  const block = atStrength(BLOCK_SIZE, strength);
  const phaseX = rng.uniform();
  const phaseY = rng.uniform();
  const { width, height, data } = image;
  const columns = Math.ceil(width / block) + 2;
  const cellX = Uint32Array.from({ length: width }, (_, x) => Math.floor((x + 0.5) / block + phaseX));
  const cellY = Uint32Array.from({ length: height }, (_, y) => Math.floor((y + 0.5) / block + phaseY));
  const sums = new Float64Array(columns * (Math.ceil(height / block) + 2) * 4);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const cell = (cellY[y]! * columns + cellX[x]!) * 4;
      const at = (y * width + x) * 3;
      for (let c = 0; c < 3; c++) sums[cell + c] = sums[cell + c]! + data[at + c]!;
      sums[cell + 3] = sums[cell + 3]! + 1;
    }
  }
  const out = createRaster(width, height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const cell = (cellY[y]! * columns + cellX[x]!) * 4;
      const at = (y * width + x) * 3;
      for (let c = 0; c < 3; c++) out.data[at + c] = sums[cell + c]! / sums[cell + 3]!;
    }
  }
  return out;
}

/** Unsharp masking carried too far: halos along edges. */
export function oversharpening(image: Raster, strength: number): Raster {
  const amount = atStrength(SHARPEN_AMOUNT, strength);
  const blurred = convolveSeparable(image, gaussianKernel(SHARPEN_SIGMA));
  return { ...image, data: image.data.map((value, i) => value + amount * (value - blurred.data[i]!)) };
}
