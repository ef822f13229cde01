import { expect, it } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import { convolveSeparable, convolveTaps, gaussianKernel, reflect } from '../../src/data/convolution.ts';
import { createRaster, type Raster } from '../../src/data/raster.ts';

const randomRaster = (width: number, height: number): Raster => {
  const rng = new Rng('raster');
  const raster = createRaster(width, height);
  raster.data.forEach((_, i) => {
    raster.data[i] = rng.uniform(0, 255);
  });
  return raster;
};

/** Weighted sum over every offset, straight from the definition. */
function slowConvolution(
  input: Raster,
  weight: (dx: number, dy: number) => number,
  radius: number,
): number[] {
  const out: number[] = [];
  for (let y = 0; y < input.height; y++) {
    for (let x = 0; x < input.width; x++) {
      for (let c = 0; c < 3; c++) {
        let sum = 0;
        for (let dy = -radius; dy <= radius; dy++) {
          for (let dx = -radius; dx <= radius; dx++) {
            let sx = x - dx;
            let sy = y - dy;
            while (sx < 0 || sx >= input.width) sx = sx < 0 ? -1 - sx : 2 * input.width - 1 - sx;
            while (sy < 0 || sy >= input.height) sy = sy < 0 ? -1 - sy : 2 * input.height - 1 - sy;
            sum += weight(dx, dy) * input.data[(sy * input.width + sx) * 3 + c]!;
          }
        }
        out.push(sum);
      }
    }
  }
  return out;
}

const largestDifference = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Array.from(a).reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0);

it('mirrors indices about the outer pixel edges', () => {
  expect([-3, -2, -1, 0, 1, 2, 3, 4, 5].map((i) => reflect(i, 3))).toEqual([2, 1, 0, 0, 1, 2, 2, 1, 0]);
});

it('blurs separably as the direct two-dimensional sum does, also when the kernel exceeds the image', () => {
  const input = randomRaster(7, 5);
  const sigma = 1.7;
  const radius = 7;
  const total = Array.from({ length: 15 }, (_, i) => Math.exp(-((i - 7) ** 2) / (2 * sigma ** 2))).reduce(
    (a, b) => a + b,
  );
  const weight = (dx: number, dy: number) => Math.exp(-(dx * dx + dy * dy) / (2 * sigma ** 2)) / total ** 2;
  const fast = convolveSeparable(input, gaussianKernel(sigma));
  expect(largestDifference(fast.data, slowConvolution(input, weight, radius))).toBeLessThan(1e-3);
});

it('convolves with an asymmetric point spread function in the right direction', () => {
  const taps = [
    { dx: 2, dy: -1, weight: 0.75 },
    { dx: 0, dy: 1, weight: 0.25 },
  ];
  const input = randomRaster(6, 6);
  const weight = (dx: number, dy: number) => taps.find((tap) => tap.dx === dx && tap.dy === dy)?.weight ?? 0;
  expect(largestDifference(convolveTaps(input, taps).data, slowConvolution(input, weight, 2))).toBeLessThan(
    1e-3,
  );
});
