import type { RgbImage } from '../../core/index.ts';
import { meanAndVariance, type Plane } from './luma.ts';

/** Variance of the 4-neighbour Laplacian over the inner pixels: the usual measure of focus. Needs 3 x 3 pixels. */
export function laplacianVariance({ data, width, height }: Plane): number {
  const values = new Float64Array((width - 2) * (height - 2));
  let n = 0;
  for (let y = 1; y < height - 1; y++) {
    for (let x = 1; x < width - 1; x++) {
      const at = y * width + x;
      values[n++] = data[at - 1]! + data[at + 1]! + data[at - width]! + data[at + width]! - 4 * data[at]!;
    }
  }
  return meanAndVariance(values).variance;
}

/**
 * Hasler and Suesstrunk, "Measuring colourfulness in natural images" (2003), M3: with rg = R - G and
 * yb = (R + G) / 2 - B, sqrt(var rg + var yb) + 0.3 sqrt(mean rg^2 + mean yb^2). 0 for grey.
 */
export function colorfulness({ data }: RgbImage): number {
  const pixels = data.length / 3;
  const [rg, yb] = [new Float64Array(pixels), new Float64Array(pixels)];
  for (let i = 0; i < pixels; i++) {
    const [r, g, b] = [data[3 * i]!, data[3 * i + 1]!, data[3 * i + 2]!];
    rg[i] = r - g;
    yb[i] = (r + g) / 2 - b;
  }
  const [a, c] = [meanAndVariance(rg), meanAndVariance(yb)];
  return Math.sqrt(a.variance + c.variance) + 0.3 * Math.hypot(a.mean, c.mean);
}
