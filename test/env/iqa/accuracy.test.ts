import { describe, expect, it } from 'vitest';
import {
  accuracyFormSchema,
  gaussianAccuracy,
  linearAccuracy,
  normalCdf,
  pointwiseAccuracy,
  thresholdAccuracy,
} from '../../../src/env/index.ts';

const form = (value: object) => accuracyFormSchema.parse(value) as Parameters<typeof pointwiseAccuracy>[2];

describe('accuracy forms', () => {
  it.each([
    [3, 3, 1],
    [3.125, 3, 1],
    [3.25, 3, 0],
    [2.75, 3, 0],
  ])('threshold 0.25: score %f, MOS %f -> %f (the bound itself earns nothing)', (score, mos, expected) => {
    expect(thresholdAccuracy(score, mos, 0.25)).toBe(expected);
  });

  it.each([
    [3, 3, 4, 1],
    [2, 3, 4, 0.75],
    [5, 1, 4, 0],
    [4, 3, 2, 0.5],
    [5, 1, 2, 0],
  ])('linear: score %f, MOS %f, width %f -> %f', (score, mos, width, expected) => {
    expect(linearAccuracy(score, mos, width)).toBe(expected);
  });

  it.each([
    [3, 3, 0.5, 1],
    [3.5, 3, 0.5, 0.6065306597126334],
    [2, 3, 0.5, 0.1353352832366127],
  ])('gaussian: score %f, MOS %f, sigma %f -> %f', (score, mos, sigma, expected) => {
    expect(gaussianAccuracy(score, mos, sigma)).toBeCloseTo(expected, 12);
  });

  it('gaussian takes the raters’ standard deviation, not below its floor', () => {
    const raters = form({ form: 'gaussian', sigma: 'raters', minimumSigma: 0.25 });
    expect(pointwiseAccuracy(4, { mos: 3, mosStd: 1 }, raters)).toBeCloseTo(0.6065306597126334, 12);
    expect(pointwiseAccuracy(3.25, { mos: 3, mosStd: 0 }, raters)).toBeCloseTo(0.6065306597126334, 12);
  });

  it('gaussian by raters throws where there are none', () => {
    expect(() => pointwiseAccuracy(4, { mos: 3 }, form({ form: 'gaussian', sigma: 'raters' }))).toThrow(
      /mosStd/,
    );
  });

  it('mixed is the weighted sum of its parts', () => {
    const mixed = form({
      form: 'mixed',
      parts: [
        { share: 0.75, reward: { form: 'linear' } },
        { share: 0.25, reward: { form: 'threshold', epsilon: 0.5 } },
      ],
    });
    // 1 point off: 0.75 * 0.75 + 0.25 * 0; exact: 1.
    expect(pointwiseAccuracy(4, { mos: 3 }, mixed)).toBeCloseTo(0.5625, 12);
    expect(pointwiseAccuracy(3, { mos: 3 }, mixed)).toBe(1);
  });

  it('mixed refuses shares that do not add up to 1', () => {
    const parts = [{ share: 0.5, reward: { form: 'linear' } }];
    expect(accuracyFormSchema.safeParse({ form: 'mixed', parts }).success).toBe(false);
  });
});

describe('normalCdf', () => {
  // Values of 0.5 erfc(-z / sqrt 2).
  it.each([
    [-5.9, 1.8175078630994357e-9],
    [-2, 0.02275013194817922],
    [0, 0.5],
    [1, 0.8413447460685429],
    [1.96, 0.9750021048517795],
    [3, 0.9986501019683699],
    [5, 0.9999997133484281],
  ])('Phi(%f)', (z, expected) => {
    expect(Math.abs(normalCdf(z) - expected)).toBeLessThan(1e-14);
  });

  it('is 0 and 1 at the infinities and NaN at NaN', () => {
    expect([normalCdf(-Infinity), normalCdf(Infinity), normalCdf(Number.NaN)]).toEqual([0, 1, Number.NaN]);
  });
});
