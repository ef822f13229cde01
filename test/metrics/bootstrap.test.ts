import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import {
  bootstrapIntervals,
  fisherInterval,
  krcc,
  mae,
  plcc,
  resampledDifference,
  resampledKrcc,
  resampledMae,
  resampledMean,
  resampledPlcc,
  resampledRmse,
  resampledSrcc,
  rmse,
  srcc,
} from '../../src/metrics/index.ts';

const rng = new Rng('bootstrap data');
const targets = Array.from({ length: 120 }, () => rng.integer(40) / 10);
const scores = targets.map((target) => Math.round(10 * (target + rng.normal())) / 10);

describe('a statistic of weights equals the plain statistic of the written-out resample', () => {
  const weights = new Int32Array(120);
  for (let i = 0; i < 120; i++) weights[rng.integer(120)]!++;
  const repeat = (values: number[]) => values.flatMap((value, i) => Array<number>(weights[i]!).fill(value));
  it.each([
    ['srcc', resampledSrcc, srcc],
    ['plcc', resampledPlcc, plcc],
    ['krcc', resampledKrcc, krcc],
    ['rmse', resampledRmse, rmse],
    ['mae', resampledMae, mae],
  ] as const)('%s', (_, resampled, plain) => {
    const expected = plain(repeat(scores), repeat(targets));
    expect(resampled(scores, targets)(weights)).toBeCloseTo(
      expected.status === 'ok' ? expected.value : Number.NaN,
      12,
    );
  });
});

describe('percentile intervals', () => {
  it('of a mean match mean +- 1.96 standard errors', () => {
    const draw = new Rng('normal');
    const values = Array.from({ length: 400 }, () => draw.normal(10, 2));
    const mean = values.reduce((a, b) => a + b) / 400;
    const error = Math.sqrt(values.reduce((sum, v) => sum + (v - mean) ** 2, 0) / 400 / 400);
    const { m } = bootstrapIntervals(400, { m: resampledMean(values) }, { rng: new Rng(1), resamples: 4000 });
    if (m.status !== 'ok') throw new Error(m.detail);
    // Quantiles of 4000 resamples are good to about 4 % of the standard error.
    expect(Math.abs(m.low - (mean - 1.96 * error))).toBeLessThan(0.15 * error);
    expect(Math.abs(m.high - (mean + 1.96 * error))).toBeLessThan(0.15 * error);
  });

  it('of PLCC lie near the Fisher interval for normal data', () => {
    const draw = new Rng('bivariate');
    const x = Array.from({ length: 500 }, () => draw.normal());
    const y = x.map((v) => 0.8 * v + 0.6 * draw.normal());
    const r = plcc(x, y);
    const fisher = fisherInterval(r.status === 'ok' ? r.value : 2, 500, { kind: 'pearson' });
    const { p } = bootstrapIntervals(500, { p: resampledPlcc(x, y) }, { rng: new Rng(2), resamples: 2000 });
    if (p.status !== 'ok' || fisher.status !== 'ok') throw new Error('no interval');
    expect(p.low).toBeCloseTo(fisher.low, 1.7);
    expect(p.high).toBeCloseTo(fisher.high, 1.7);
  });

  it('repeat for a seed and differ between seeds', () => {
    const statistic = { s: resampledSrcc(scores, targets) };
    const run = (seed: number) => bootstrapIntervals(120, statistic, { rng: new Rng(seed), resamples: 50 });
    expect(run(3)).toEqual(run(3));
    expect(run(3)).not.toEqual(run(4));
  });

  it('of the difference of a predictor with itself are exactly 0', () => {
    const same = resampledDifference(resampledSrcc(scores, targets), resampledSrcc(scores, targets));
    const { d } = bootstrapIntervals(120, { d: same }, { rng: new Rng(5), resamples: 200 });
    expect(d).toEqual({ status: 'ok', low: 0, high: 0, level: 0.95 });
  });

  it('of a paired difference are candidate minus baseline', () => {
    const exact = resampledPlcc(targets, targets);
    const { d } = bootstrapIntervals(
      120,
      { d: resampledDifference(resampledPlcc(scores, targets), exact) },
      { rng: new Rng(6), resamples: 200 },
    );
    expect(d.status === 'ok' && d.low > 0).toBe(true);
  });

  it('are refused when many resamples have no value', () => {
    // With three pairs, 3 of 27 resamples hold one pair three times.
    const { s } = bootstrapIntervals(
      3,
      { s: resampledSrcc([1, 2, 3], [1, 3, 2]) },
      { rng: new Rng(7), resamples: 500 },
    );
    expect(s).toMatchObject({ status: 'undefined-because', reason: 'resamples-undefined' });
  });

  it('are refused where a resample overflows, instead of ending in NaN', () => {
    const huge = [1.5e308, -1.5e308, 1e308, -1e308, 0.5e308, 2e307];
    const { p, e } = bootstrapIntervals(
      6,
      { p: resampledPlcc(huge, [1, 2, 3, 4, 5, 6]), e: resampledRmse(huge, [1, 2, 3, 4, 5, 6]) },
      { rng: new Rng(7), resamples: 200 },
    );
    expect(p).toMatchObject({ status: 'undefined-because', reason: 'not-finite' });
    expect(e).toMatchObject({ status: 'undefined-because', reason: 'not-finite' });
  });

  it('are refused for no pairs', () => {
    const { s } = bootstrapIntervals(0, { s: resampledSrcc([], []) }, { rng: new Rng(8), resamples: 10 });
    expect(s).toMatchObject({ reason: 'resamples-undefined' });
  });

  it('reject a level outside (0, 1)', () => {
    expect(() => bootstrapIntervals(1, {}, { rng: new Rng(9), level: 95 })).toThrow(
      'allowed is 0 < level < 1',
    );
  });
});

const zOfR = Math.LN2; // atanh(0.6) = ln(1.6 / 0.4) / 2

it('Spearman Fisher interval by Bonett and Wright, r = 0.6, n = 28', () => {
  // z = ln 2, se = sqrt(1.18 / 25) = 0.217256, 1.959964 se = 0.425814
  const interval = fisherInterval(0.6, 28, { kind: 'spearman' });
  if (interval.status !== 'ok') throw new Error(interval.detail);
  expect(interval.low).toBeCloseTo(Math.tanh(zOfR - 0.425814), 5);
  expect(interval.high).toBeCloseTo(Math.tanh(zOfR + 0.425814), 5);
});
