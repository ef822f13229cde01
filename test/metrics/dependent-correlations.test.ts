import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import {
  correlationsWithSharedTarget,
  plcc,
  type SharedTargetCorrelations,
  steigerTest,
  type TestOutcome,
  williamsTest,
} from '../../src/metrics/index.ts';

function ok(outcome: TestOutcome) {
  if (outcome.status !== 'ok') throw new Error(outcome.detail);
  return outcome;
}
const tests = { williamsTest, steigerTest };

describe('published values', () => {
  // The worked example of Silver, Hittner and May, Applied Psychological Measurement 30, 2006 (DEPCOR).
  const depcor = { baseline: 0.3, candidate: 0.4, between: 0.5, n: 100 };
  it("Williams' t", () => {
    const { statistic, pValue, degreesOfFreedom } = ok(williamsTest(depcor));
    expect(statistic).toBeCloseTo(1.0767, 4);
    expect(pValue).toBeCloseTo(0.2843, 4);
    expect(degreesOfFreedom).toBe(97);
  });
  it("Steiger's z", () => {
    const { statistic, pValue } = ok(steigerTest(depcor));
    expect(statistic).toBeCloseTo(1.0718, 4);
    expect(pValue).toBeCloseTo(0.2838, 4);
  });
  it("Steiger's z, case A of the paper, which rounds its covariance and so prints .8913", () => {
    const { statistic } = ok(steigerTest({ baseline: 0.4, candidate: 0.5, between: 0.1, n: 103 }));
    expect(statistic).toBeCloseTo(0.8887185, 7);
  });
  // Printed by the R package cocor for three real correlations, given to four digits.
  it.each([
    [0.2015, -0.1741, 0.3734, 646, -9.034, -8.6124],
    [0.7108, 0.7245, 0.8972, 15549, 5.5544, 5.5498],
  ])('r = %f and %f, %f between, n = %i', (baseline, candidate, between, n, t, z) => {
    const correlations = { baseline, candidate, between, n };
    // The rounded input moves the statistic by up to 0.3 %.
    expect(Math.abs(ok(williamsTest(correlations)).statistic / t - 1)).toBeLessThan(0.005);
    expect(Math.abs(ok(steigerTest(correlations)).statistic / z - 1)).toBeLessThan(0.005);
  });
});

describe.each(Object.entries(tests))('%s', (_, test) => {
  it('changes its sign with the sides', () => {
    const one = ok(test({ baseline: 0.6, candidate: 0.7, between: 0.5, n: 40 }));
    const other = ok(test({ baseline: 0.7, candidate: 0.6, between: 0.5, n: 40 }));
    expect(other.statistic).toBeCloseTo(-one.statistic, 14);
    expect(other.pValue).toBeCloseTo(one.pValue, 14);
  });
  it('of equal correlations is 0, p = 1', () => {
    const { statistic, pValue } = ok(test({ baseline: 0.6, candidate: 0.6, between: 0.5, n: 40 }));
    expect(statistic).toBe(0);
    expect(pValue).toBe(1);
  });
  it('rejects a true null hypothesis in about 5 % of samples', () => {
    const rng = new Rng('null');
    let rejected = 0;
    for (let sample = 0; sample < 1000; sample++) {
      const targets = Array.from({ length: 40 }, () => rng.normal());
      const predictor = () => targets.map((v) => v + rng.normal());
      const shared = correlationsWithSharedTarget(predictor(), predictor(), targets, plcc);
      if (shared.status !== 'ok') throw new Error(shared.detail);
      if (ok(test(shared)).pValue < 0.05) rejected++;
    }
    // 50 expected, with a standard deviation of 7.
    expect(Math.abs(rejected - 50)).toBeLessThan(21);
  });
  it.each<[string, SharedTargetCorrelations, string]>([
    ['three images', { baseline: 0.5, candidate: 0.6, between: 0.5, n: 3 }, 'too-few'],
    [
      'a predictor and its copy',
      { baseline: 0.5, candidate: 0.5, between: 1, n: 30 },
      'identical-predictors',
    ],
    ['opposite predictors', { baseline: 0.5, candidate: -0.5, between: -1, n: 30 }, 'identical-predictors'],
  ])('has no value for %s', (_name, correlations, reason) =>
    expect(test(correlations)).toMatchObject({ status: 'undefined-because', reason }),
  );
  it('refuses correlations that cannot occur together', () =>
    expect(() => test({ baseline: 0.9, candidate: -0.9, between: 0.9, n: 30 })).toThrow(
      'cannot occur together',
    ));
  it('refuses NaN', () =>
    expect(() => test({ baseline: Number.NaN, candidate: 0.5, between: 0.5, n: 30 })).toThrow('got NaN'));
});

it("Steiger's z has no value for a perfect correlation", () =>
  expect(steigerTest({ baseline: 1, candidate: 0.5, between: 0.5, n: 30 })).toMatchObject({
    reason: 'perfect-correlation',
  }));

it('the correlations are undefined where one of the three is', () =>
  expect(correlationsWithSharedTarget([1, 2, 3], [4, 4, 4], [1, 2, 4], plcc)).toMatchObject({
    reason: 'constant-scores',
  }));
