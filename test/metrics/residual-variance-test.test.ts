import { describe, expect, it } from 'vitest';
import { residualVarianceTest } from '../../src/metrics/index.ts';

const targets = [10, 20, 30, 40];
const withErrors = (errors: number[]) => targets.map((target, i) => target + errors[i]!);

function ok(baseline: number[], candidate: number[]) {
  const result = residualVarianceTest(baseline, candidate, targets);
  if (result.status !== 'ok') throw new Error(result.detail);
  return result;
}

describe('F-test of residual variances', () => {
  it('of residuals +-2 and +-1 of four images', () => {
    const { statistic, pValue, degreesOfFreedom, baseline } = ok(
      withErrors([2, -2, 2, -2]),
      withErrors([1, -1, -1, 1]),
    );
    expect(statistic).toBeCloseTo(0.25, 14);
    expect(degreesOfFreedom).toBe(3);
    expect(baseline).toEqual({ variance: 16 / 3, kurtosis: 1, nearNormal: false });
    // P(F <= 1/4) with 3 and 3 degrees of freedom is I_x(3/2, 3/2) at x = 1 / 5, the area under a half circle.
    const tail = (2 / Math.PI) * (Math.asin(Math.sqrt(0.2)) - Math.sqrt(0.2 * 0.8) * (1 - 2 * 0.2));
    expect(pValue).toBeCloseTo(2 * tail, 13);
  });
  it('says the same with the sides exchanged', () => {
    const one = ok(withErrors([3, -2, 0, -1]), withErrors([1, 0, -1, 0]));
    const other = ok(withErrors([1, 0, -1, 0]), withErrors([3, -2, 0, -1]));
    expect(other.statistic).toBeCloseTo(1 / one.statistic, 13);
    expect(other.pValue).toBeCloseTo(one.pValue, 13);
  });
  it('of equal variances has p = 1', () =>
    expect(ok(withErrors([1, -1, 1, -1]), withErrors([-1, 1, -1, 1])).pValue).toBe(1));
  it('a constant offset is no variance of residuals', () => {
    const { statistic } = ok(withErrors([2, -2, 2, -2]), withErrors([6, 2, 6, 2]));
    expect(statistic).toBeCloseTo(1, 14);
  });
  it('takes residuals -3, -1, 1, 3 for near normal or not by their kurtosis of 1.64', () => {
    const { candidate } = ok(withErrors([1, -1, 1, -1]), withErrors([-3, -1, 1, 3]));
    expect(candidate.kurtosis).toBeCloseTo((4 * (81 + 1 + 1 + 81)) / 20 ** 2, 14);
    expect(candidate.nearNormal).toBe(false);
  });
  it('has no value for a predictor without error', () =>
    expect(residualVarianceTest(targets, withErrors([1, -1, 0, 0]), targets)).toMatchObject({
      reason: 'constant-residuals',
      detail: 'the residuals of the baseline do not vary',
    }));
  it('has no value for one image', () =>
    expect(residualVarianceTest([1], [2], [3])).toMatchObject({ reason: 'too-few' }));
  it('has no value for NaN', () =>
    expect(residualVarianceTest([1, 2], [Number.NaN, 2], [1, 3])).toMatchObject({ reason: 'not-finite' }));
  it('has no value where residuals overflow', () =>
    expect(residualVarianceTest([1e300, -1e300], [1, 2], [0, 0])).toMatchObject({ reason: 'not-finite' }));
});
