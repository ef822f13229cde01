import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import { type Field, spectralFields } from '../../src/data/scenes/spectral-noise.ts';

/** Amplitude at one frequency by the defining sum, sharing nothing with the fast transform under test. */
function amplitude({ data, size }: Field, u: number, v: number): number {
  let re = 0;
  let im = 0;
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const angle = (-2 * Math.PI * (u * x + v * y)) / size;
      re += data[y * size + x]! * Math.cos(angle);
      im += data[y * size + x]! * Math.sin(angle);
    }
  }
  return Math.hypot(re, im);
}

/** Least-squares slope of log amplitude against log frequency. */
function measuredSlope(field: Field): number {
  const points: [number, number][] = [];
  for (let v = -15; v <= 15; v++) {
    for (let u = 1; u <= 15; u++) points.push([Math.log(Math.hypot(u, v)), Math.log(amplitude(field, u, v))]);
  }
  const mean = (k: 0 | 1) => points.reduce((sum, point) => sum + point[k], 0) / points.length;
  const [mx, my] = [mean(0), mean(1)];
  const xy = points.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0);
  return xy / points.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
}

describe('spectralFields', () => {
  const [one, two] = spectralFields(new Rng(3), 32, [1, 1.9]);

  it('gives each field its own slope', () => {
    expect(measuredSlope(one)).toBeCloseTo(-1, 5);
    expect(measuredSlope(two)).toBeCloseTo(-1.9, 5);
  });

  it('has zero mean and unit variance', () => {
    for (const { data } of [one, two]) {
      const mean = data.reduce((sum, value) => sum + value, 0) / data.length;
      const variance = data.reduce((sum, value) => sum + value * value, 0) / data.length;
      expect(mean).toBeCloseTo(0, 6);
      expect(variance).toBeCloseTo(1, 5);
    }
  });

  it('makes the two fields uncorrelated', () => {
    const [a, b] = spectralFields(new Rng(4), 128, [1, 1]);
    const correlation = a.data.reduce((sum, value, i) => sum + value * b.data[i]!, 0) / a.data.length;
    // 1/f fields are dominated by their few lowest frequencies, hence a wide tolerance.
    expect(Math.abs(correlation)).toBeLessThan(0.2);
  });

  it('refuses a size that is no power of two', () => {
    expect(() => spectralFields(new Rng(0), 48, [1, 1])).toThrow(/power of two/);
  });
});
