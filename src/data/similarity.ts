import type { RgbImage } from '../core/index.ts';
import { convolveSeparable } from './convolution.ts';
import { createRaster, luma, type Raster } from './raster.ts';

const RADIUS = 5;
const SIGMA = 1.5;
const C1 = (0.01 * 255) ** 2;
const C2 = (0.03 * 255) ** 2;

/**
 * Structural similarity of two pictures of one size (Wang, Bovik, Sheikh and Simoncelli 2004, equation 13), on
 * luma, with the paper's 11 x 11 Gaussian window, over the windows that lie inside. At most 1; 1 for equal pictures.
 */
export function ssim(a: RgbImage, b: RgbImage): number {
  const { width, height } = a;
  if (b.width !== width || b.height !== height) {
    throw new RangeError(`ssim: ${width}x${height} and ${b.width}x${b.height} differ in size`);
  }
  if (Math.min(width, height) <= 2 * RADIUS) {
    throw new RangeError(`ssim: at least ${2 * RADIUS + 1} pixels are needed, got ${width}x${height}`);
  }
  const first = createRaster(width, height);
  const second = createRaster(width, height);
  for (let i = 0; i < a.data.length; i += 3) {
    // The middle of the range taken off: small squares keep their digits.
    const x = luma(a.data[i]!, a.data[i + 1]!, a.data[i + 2]!) - 128;
    const y = luma(b.data[i]!, b.data[i + 1]!, b.data[i + 2]!) - 128;
    first.data.set([x, y, x * y], i);
    second.data.set([x * x, y * y, 0], i);
  }
  return meanSimilarity(convolveSeparable(first, window()), convolveSeparable(second, window()));
}

/** `means` holds the windowed means of x, y and xy, `squares` those of x^2 and y^2. */
function meanSimilarity(means: Raster, squares: Raster): number {
  const { width, height } = means;
  let sum = 0;
  for (let row = RADIUS; row < height - RADIUS; row++) {
    for (let column = RADIUS; column < width - RADIUS; column++) {
      const i = (row * width + column) * 3;
      const x = means.data[i]!;
      const y = means.data[i + 1]!;
      const covariance = means.data[i + 2]! - x * y;
      const variances = squares.data[i]! - x * x + squares.data[i + 1]! - y * y;
      const [u, v] = [x + 128, y + 128];
      sum += ((2 * u * v + C1) * (2 * covariance + C2)) / ((u * u + v * v + C1) * (variances + C2));
    }
  }
  return sum / ((width - 2 * RADIUS) * (height - 2 * RADIUS));
}

function window(): Float64Array {
  const weights = Float64Array.from({ length: 2 * RADIUS + 1 }, (_, i) =>
    Math.exp(-((i - RADIUS) ** 2) / (2 * SIGMA ** 2)),
  );
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}
