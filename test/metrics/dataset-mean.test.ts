import { describe, expect, it } from 'vitest';
import {
  type DatasetMean,
  meanOverDatasets,
  metricValue,
  undefinedBecause,
} from '../../src/metrics/index.ts';

const rows = [
  { dataset: 'a', n: 103, value: metricValue(0.9) },
  { dataset: 'b', n: 53, value: metricValue(0.5) },
];

describe('mean over data sets', () => {
  // Fisher: weights 100 and 50, z = ln(19) / 2 and ln(3) / 2, so exp(2 z) = 19^(2/3) 3^(1/3) = cbrt(1083).
  const root = Math.cbrt(1083);
  it.each([
    ['plain', 0.7],
    ['by-n', (103 * 0.9 + 53 * 0.5) / 156],
    ['fisher-z', (root - 1) / (root + 1)],
  ] as const)('%s', (how, expected) => {
    const mean = meanOverDatasets(rows, how);
    expect(mean.status === 'ok' && mean.value).toBeCloseTo(expected, 14);
  });
  it.each(['plain', 'by-n', 'fisher-z'] as const)('%s of one data set is its value', (how: DatasetMean) => {
    const mean = meanOverDatasets(rows.slice(0, 1), how);
    expect(mean.status === 'ok' && mean.value).toBeCloseTo(0.9, 14);
  });
  it('has no value when a data set has none, and names it', () => {
    const none = { dataset: 'c', n: 3, value: undefinedBecause('constant-scores', 'all 3 scores equal 4') };
    expect(meanOverDatasets([...rows, none], 'plain')).toEqual({
      status: 'undefined-because',
      reason: 'constant-scores',
      detail: 'c: all 3 scores equal 4',
    });
  });
  it('has no value for no data set', () =>
    expect(meanOverDatasets([], 'plain')).toMatchObject({ reason: 'nothing-to-count' }));
  it.each([
    [3, 0.5, 'too-few'],
    [30, -1, 'perfect-correlation'],
  ] as const)('has no Fisher mean with n = %i, r = %f', (n, r, reason) =>
    expect(meanOverDatasets([{ dataset: 'd', n, value: metricValue(r) }], 'fisher-z')).toMatchObject({
      reason,
    }),
  );
  it('refuses an RMSE in a Fisher mean', () =>
    expect(() => meanOverDatasets([{ dataset: 'd', n: 30, value: metricValue(7.5) }], 'fisher-z')).toThrow(
      'correlations in [-1, 1]',
    ));
  it('refuses n = 0', () =>
    expect(() => meanOverDatasets([{ dataset: 'd', n: 0, value: metricValue(0.5) }], 'by-n')).toThrow(
      'd: got n = 0',
    ));
});
