import { describe, expect, it } from 'vitest';
import { fisherInterval, fitLogistic, krcc, mae, plcc, rmse, srcc } from '../../src/metrics/index.ts';

const correlations = { srcc, plcc, krcc };

describe.each(Object.entries(correlations))('%s has no value', (_, correlation) => {
  it('for an empty list', () => {
    expect(correlation([], [])).toEqual({
      status: 'undefined-because',
      reason: 'too-few',
      detail: '0 pair(s), at least 2 needed',
    });
  });
  it('for one pair', () => expect(correlation([1], [2])).toMatchObject({ reason: 'too-few' }));
  it('for constant scores', () => {
    // 0.1 has no exact mean: a computed variance would not be 0.
    expect(correlation([0.1, 0.1, 0.1], [1, 2, 3])).toMatchObject({ reason: 'constant-scores' });
  });
  it('for constant targets', () => {
    expect(correlation([1, 2, 3], [0.7, 0.7, 0.7])).toMatchObject({ reason: 'constant-targets' });
  });
  it('for NaN and infinity, and counts them', () => {
    expect(correlation([1, Number.NaN, 3, 4], [1, 2, Number.POSITIVE_INFINITY, 4])).toMatchObject({
      reason: 'not-finite',
      detail: '2 of 4 pairs hold NaN or infinity',
    });
  });
  it('and throws for lists that are not pairs', () => {
    expect(() => correlation([1, 2, 3], [1, 2])).toThrow('got 3 scores and 2 targets');
  });
});

describe('error sizes', () => {
  it('rmse of 3-4-0 errors is sqrt(25 / 3)', () => {
    expect(rmse([4, 6, 2], [1, 2, 2])).toEqual({ status: 'ok', value: Math.sqrt(25 / 3) });
  });
  it('mae of 3-4-0 errors is 7 / 3', () =>
    expect(mae([4, 2, 2], [1, 6, 2])).toEqual({ status: 'ok', value: 7 / 3 }));
  it('one pair is enough', () => expect(rmse([1], [3])).toEqual({ status: 'ok', value: 2 }));
  it('no pair is not', () => expect(mae([], [])).toMatchObject({ reason: 'too-few' }));
  it('NaN is not an error of any size', () => {
    expect(rmse([Number.NaN], [3])).toMatchObject({ reason: 'not-finite' });
  });
});

describe('values too large to compute with have no metric, never NaN or infinity', () => {
  const huge = [1.7e308, -1.7e308, 1.6e308, 0, 1, -1.5e308];
  const small = [1, 2, 3, 4, 5, 6];
  const metrics = {
    srcc: srcc(huge, small),
    plcc: plcc(huge, small),
    krcc: krcc(huge, small),
    rmse: rmse(huge, small),
    mae: mae(huge, small),
  };
  it.each(Object.entries(metrics))('%s', (_name, metric) => {
    if (metric.status === 'ok') expect(metric.value).toSatisfy(Number.isFinite);
    else expect(metric.reason).toBe('not-finite');
  });
  it('a curve neither', () => {
    for (const model of ['logistic4', 'logistic5'] as const) {
      const fit = fitLogistic([...huge, 2, 3], [...small, 7, 8], model);
      if (fit.status === 'ok')
        expect([fit.plcc, fit.rmse, ...fit.parameters]).toSatisfy((all: number[]) =>
          all.every(Number.isFinite),
        );
      else expect(fit.detail).not.toBe('');
    }
  });
});

describe('intervals and fits have no value', () => {
  it('Fisher below four pairs', () => {
    expect(fisherInterval(0.5, 3, { kind: 'pearson' })).toMatchObject({ reason: 'too-few' });
  });
  it('Fisher of a perfect correlation', () => {
    expect(fisherInterval(-1, 30, { kind: 'spearman' })).toMatchObject({ reason: 'perfect-correlation' });
  });
  it('a logistic with as many parameters as pairs', () => {
    expect(fitLogistic([1, 2, 3, 4], [1, 2, 4, 5], 'logistic4')).toMatchObject({ reason: 'too-few' });
  });
  it('a logistic of constant scores', () => {
    expect(fitLogistic([2, 2, 2, 2, 2, 2], [1, 2, 3, 4, 5, 5], 'logistic5')).toMatchObject({
      reason: 'constant-scores',
    });
  });
});
