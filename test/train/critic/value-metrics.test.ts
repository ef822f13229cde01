import { expect, it } from 'vitest';
import { valueMetrics } from '../../../src/train/critic/index.ts';

it('explains 1 - Var(R - V) / Var(R) over the tokens of all samples', () => {
  // R = 1 2 3 6: mean 3, variance 3.5. R - V = 1 0 0 3: mean 1, variance 1.5.
  const judged = [
    { values: [0, 2], returns: [1, 2] },
    { values: [3, 3], returns: [3, 6] },
  ];
  expect(valueMetrics(judged)).toEqual({ 'values/mean': 2, explained_variance: expect.closeTo(4 / 7, 12) });
});

it.each([
  ['the returns themselves', [1, 2, 3], 1],
  ['the returns but for a shift', [4, 5, 6], 1],
  ['always their mean', [2, 2, 2], 0],
  ['the opposite', [3, 2, 1], -3],
])('a head that tells %s', (_name, values, expected) => {
  const { explained_variance: explained } = valueMetrics([{ values, returns: [1, 2, 3] }]);
  expect(explained).toBeCloseTo(expected, 12);
});

it('says nothing about returns that are all equal, or absent', () => {
  expect(valueMetrics([{ values: [1, 3], returns: [2, 2] }])).toEqual({ 'values/mean': 2 });
  expect(valueMetrics([])).toEqual({});
});
