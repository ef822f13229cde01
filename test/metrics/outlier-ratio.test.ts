import { describe, expect, it } from 'vitest';
import { outlierRatio } from '../../src/metrics/index.ts';

describe('outlier ratio', () => {
  const targets = [10, 20, 30, 40];
  it('counts residuals beyond two deviations of their own image', () => {
    // Residuals 3, 2, 0, 9 against 2, 2, 2 and 10.
    expect(outlierRatio([13, 22, 30, 49], targets, [1, 1, 1, 5])).toMatchObject({
      status: 'ok',
      count: 1,
      of: 4,
      rate: { value: 0.25 },
    });
  });
  it('a residual of exactly two deviations is none', () =>
    expect(outlierRatio([12], [10], [1])).toMatchObject({ count: 0 }));
  it('takes another factor', () =>
    expect(outlierRatio([12], [10], [1], { times: 1.96 })).toMatchObject({ count: 1 }));
  it('opinions that all agree leave no room', () =>
    expect(outlierRatio([10, 20.1], [10, 20], [0, 0])).toMatchObject({ count: 1 }));
  it('has no value with a deviation below 0 or NaN', () =>
    expect(outlierRatio([1, 2, 3], [1, 2, 3], [1, -1, Number.NaN])).toMatchObject({
      reason: 'not-finite',
      detail: '2 of 3 deviations are not finite or below 0',
    }));
  it('has no value for no pair', () => expect(outlierRatio([], [], [])).toMatchObject({ reason: 'too-few' }));
  it('throws when deviations are missing', () =>
    expect(() => outlierRatio([1, 2], [1, 2], [1])).toThrow('2 scores and 1 deviations'));
});
