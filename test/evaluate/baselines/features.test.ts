import { describe, expect, it } from 'vitest';
import { type RgbImage, Rng } from '../../../src/core/index.ts';
import { colorfulness, laplacianVariance } from '../../../src/evaluate/baselines/heuristics.ts';
import { filtered, halved, lumaOf, type Plane } from '../../../src/evaluate/baselines/luma.ts';
import {
  fitAsymmetricGaussian,
  fitGeneralisedGaussian,
  logGamma,
  normalisedLuminance,
  sceneStatistics,
} from '../../../src/evaluate/baselines/scene-statistics.ts';

const plane = (width: number, values: number[]): Plane => ({
  data: Float64Array.from(values),
  width,
  height: values.length / width,
});

const rgb = (width: number, pixels: number[][]): RgbImage => ({
  data: Uint8Array.from(pixels.flat()),
  width,
  height: pixels.length / width,
});

it('luma is .299 R + .587 G + .114 B', () => {
  const { data } = lumaOf(rgb(2, [[255, 0, 0], [10, 20, 30]])); // biome-ignore format: two pixels
  expect(data[0]).toBeCloseTo(76.245, 10);
  expect(data[1]).toBeCloseTo(2.99 + 11.74 + 3.42, 10);
});

it('halving takes means of blocks and leaves the odd column out', () => {
  const half = halved(plane(5, [1, 3, 10, 10, 9, 5, 7, 10, 30, 9]));
  expect([...half.data]).toEqual([4, 15]);
  expect(half).toMatchObject({ width: 2, height: 1 });
});

it('a filter repeats the border: [1 2 1] / 4 on 0 4 8', () => {
  const { data } = filtered(plane(3, [0, 4, 8]), [0.25, 0.5, 0.25]);
  expect([...data]).toEqual([1, 4, 7]);
});

describe('sharpness', () => {
  it('one bright point in 4 x 3: inner values -4 and 1, variance 6.25', () => {
    const point = plane(4, [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    expect(laplacianVariance(point)).toBeCloseTo(6.25, 12);
  });

  it('a linear ramp has none', () => {
    const ramp = plane(
      4,
      Array.from({ length: 16 }, (_, i) => (i % 4) + 2 * Math.floor(i / 4)),
    );
    expect(laplacianVariance(ramp)).toBe(0);
  });
});

describe('colorfulness', () => {
  it('is 0 for grey', () => {
    const grey = rgb(2, [0, 50, 200, 255].map((v) => [v, v, v])); // biome-ignore format: one line a list
    expect(colorfulness(grey)).toBe(0);
  });

  it('red beside blue: rg 255, 0; yb 127.5, -255', () => {
    const value = colorfulness(rgb(2, [[255, 0, 0], [0, 0, 255]])); // biome-ignore format: two pixels
    const spread = Math.sqrt(127.5 ** 2 + 191.25 ** 2);
    const offset = Math.sqrt(127.5 ** 2 + 63.75 ** 2);
    expect(value).toBeCloseTo(spread + 0.3 * offset, 10);
  });
});

it('log gamma: Gamma(1/2) = sqrt(pi), Gamma(5) = 24, Gamma(1/4) = 3.6256099082', () => {
  expect(logGamma(0.5)).toBeCloseTo(Math.log(Math.PI) / 2, 12);
  expect(logGamma(5)).toBeCloseTo(Math.log(24), 12);
  expect(logGamma(0.25)).toBeCloseTo(Math.log(3.625609908221908), 12);
});

describe('distribution fits', () => {
  const rng = new Rng('fits');
  const normals = Float64Array.from({ length: 100_000 }, () => rng.normal(0, 2));
  const laplace = Float64Array.from({ length: 100_000 }, () => {
    const u = rng.uniform(-0.5, 0.5);
    return -Math.sign(u) * Math.log(1 - 2 * Math.abs(u));
  });

  it('a normal distribution has shape 2 and its own variance', () => {
    const { shape, variance } = fitGeneralisedGaussian(normals);
    expect(Math.abs(shape - 2)).toBeLessThan(0.05);
    expect(Math.abs(variance - 4)).toBeLessThan(0.05);
  });

  it('a Laplace distribution has shape 1', () => {
    expect(Math.abs(fitGeneralisedGaussian(laplace).shape - 1)).toBeLessThan(0.03);
  });

  it('an asymmetric one: normal halves of widths 1 and 3 have shape 2 and both variances', () => {
    // Densities that meet at 0: the wide half is drawn three times as often.
    const halves = Float64Array.from({ length: 200_000 }, () =>
      rng.uniform() < 0.25 ? -Math.abs(rng.normal(0, 1)) : Math.abs(rng.normal(0, 3)),
    );
    const { shape, mean, leftVariance, rightVariance } = fitAsymmetricGaussian(halves);
    expect(Math.abs(shape - 2)).toBeLessThan(0.06);
    expect(Math.abs(leftVariance - 1)).toBeLessThan(0.03);
    expect(Math.abs(rightVariance - 9)).toBeLessThan(0.2);
    // (3 - 1) sqrt(Gamma(1/2) / Gamma(3/2)) Gamma(1) / Gamma(1/2) = 2 sqrt(2 / pi), the mean of the mixture.
    expect(Math.abs(mean - 2 * Math.sqrt(2 / Math.PI))).toBeLessThan(0.05);
  });

  it('what never varies has the largest shape and no variance', () => {
    expect(fitGeneralisedGaussian(new Float64Array(10))).toEqual({ shape: 10, variance: 0 });
    expect(fitAsymmetricGaussian(new Float64Array(10))).toMatchObject({ mean: 0, leftVariance: 0 });
  });
});

describe('normalised luminance', () => {
  const rng = new Rng('scene');
  const noise = plane(
    64,
    Array.from({ length: 64 * 64 }, () => 128 + rng.normal(0, 20)),
  );

  it('is 0 on a flat picture', () => {
    const flat = normalisedLuminance(
      plane(
        8,
        Array.from({ length: 64 }, () => 77),
      ),
    );
    for (const value of flat.data) expect(Math.abs(value)).toBeLessThan(1e-9);
  });

  it('at one pixel it is (I - mu) / (sigma + 1) with the 7 x 7 Gaussian, by a direct sum', () => {
    const [x, y] = [20, 30];
    let [total, mean, square] = [0, 0, 0];
    for (let dy = -3; dy <= 3; dy++) {
      for (let dx = -3; dx <= 3; dx++) {
        const weight = Math.exp(-(dx * dx + dy * dy) / (2 * (7 / 6) ** 2));
        const value = noise.data[(y + dy) * 64 + x + dx]!;
        total += weight;
        mean += weight * value;
        square += weight * value * value;
      }
    }
    mean /= total;
    const sigma = Math.sqrt(square / total - mean * mean);
    const expected = (noise.data[y * 64 + x]! - mean) / (sigma + 1);
    expect(normalisedLuminance(noise).data[y * 64 + x]).toBeCloseTo(expected, 9);
  });

  it('36 numbers, all finite, also for a flat picture', () => {
    for (const picture of [
      noise,
      plane(
        16,
        Array.from({ length: 256 }, () => 5),
      ),
    ]) {
      const features = sceneStatistics(picture);
      expect(features).toHaveLength(36);
      expect(features.every(Number.isFinite)).toBe(true);
    }
  });
});
