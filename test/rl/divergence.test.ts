import { expect, it } from 'vitest';
import { samplerDivergence } from '../../src/rl/index.ts';

it('gives the statistics of two tokens worked by hand', () => {
  const result = samplerDivergence([Math.log(0.5), Math.log(0.2)], [Math.log(0.25), Math.log(0.4)]);
  // Differences trainer - sampler: -log 2 and log 2; their ratios 1/2 and 2.
  expect(result?.tokens).toBe(2);
  expect(result?.meanAbsoluteDifference).toBeCloseTo(Math.LN2, 12);
  expect(result?.maximumAbsoluteDifference).toBeCloseTo(Math.LN2, 12);
  expect(result?.k1).toBeCloseTo(0, 12);
  expect(result?.k3).toBeCloseTo((0.5 + 2) / 2 - 1, 12);
  expect(result?.correlation).toBeCloseTo(-1, 12);
});

it('gives the Pearson correlation of the probabilities', () => {
  // 1, 2, 3 against 1, 3, 2 (tenths): covariance 1, variances 2 and 2.
  const result = samplerDivergence([0.1, 0.2, 0.3].map(Math.log), [0.1, 0.3, 0.2].map(Math.log));
  expect(result?.correlation).toBeCloseTo(0.5, 12);
});

it('has no correlation when one side is constant', () => {
  const tenth = Math.log(0.1);
  expect(samplerDivergence([tenth, tenth, tenth], [-1, -2, -3])?.correlation).toBeNull();
});

it('shows a NaN instead of passing over it', () => {
  expect(samplerDivergence([-1, -1], [Number.NaN, -1])?.maximumAbsoluteDifference).toBeNaN();
});

it('is null without tokens', () => {
  expect(samplerDivergence([], [])).toBeNull();
});

it('refuses lists of different length', () => {
  expect(() => samplerDivergence([0], [])).toThrow(RangeError);
});
