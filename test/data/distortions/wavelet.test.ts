import { describe, expect, it } from 'vitest';
import { Rng } from '../../../src/core/index.ts';
import { bandSizes, forwardWavelet, inverseWavelet } from '../../../src/data/distortions/wavelet.ts';

const noise = (n: number) => {
  const rng = new Rng('wavelet');
  return Float64Array.from({ length: n }, () => rng.uniform(-100, 100));
};

describe('the 9/7 wavelet', () => {
  it.each([
    [64, 64],
    [37, 21],
    [8, 9],
    [7, 50],
    [1, 1],
  ])('is undone exactly on %i x %i', (width, height) => {
    const before = noise(width * height);
    const plane = before.slice();
    forwardWavelet(plane, width, height, 5);
    inverseWavelet(plane, width, height, 5);
    expect(Math.max(...plane.map((value, i) => Math.abs(value - before[i]!)))).toBeLessThan(1e-9);
  });

  it('puts a constant into the low band alone, twice as large at each level', () => {
    const plane = new Float64Array(32 * 32).fill(10);
    forwardWavelet(plane, 32, 32, 2);
    // Two levels (32 and 16); the low band is 8 x 8. The low filter has gain sqrt(2) along each axis.
    for (let i = 0; i < plane.length; i++) {
      const isLow = i % 32 < 8 && i < 8 * 32;
      expect(plane[i]).toBeCloseTo(isLow ? 40 : 0, 6);
    }
  });

  it('nearly keeps energy', () => {
    const plane = noise(64 * 64);
    const energy = (values: Float64Array) => values.reduce((sum, value) => sum + value * value, 0);
    const before = energy(plane);
    forwardWavelet(plane, 64, 64, 5);
    expect(Math.abs(energy(plane) / before - 1)).toBeLessThan(0.1);
  });

  it('stops where a band gets smaller than 8', () => {
    expect(bandSizes(37, 21, 5)).toEqual([
      { width: 37, height: 21 },
      { width: 19, height: 11 },
    ]);
  });
});
