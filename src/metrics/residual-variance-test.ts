import type { SignificanceTest } from './dependent-correlations.ts';
import { fUpperTail } from './p-values.ts';
import { type Numbers, pairProblem, type UndefinedBecause, undefinedBecause } from './result.ts';

export interface ResidualVarianceTest extends Omit<SignificanceTest, 'statistic'> {
  /** F, variance of the candidate's residuals over that of the baseline's: below 1 where the candidate is better. */
  statistic: number;
  baseline: ResidualShape;
  candidate: ResidualShape;
}

export interface ResidualShape {
  /** Unbiased, in squared units of the targets. */
  variance: number;
  /** Fourth standardised moment, 3 for a normal distribution. */
  kurtosis: number;
  /** Whether the kurtosis lies in [2, 4], the field's rule of thumb. The test presumes normal residuals. */
  nearNormal: boolean;
}

/**
 * VQEG's F-test that two predictors leave residuals of equal variance (VQEG, FR-TV phase I, 2000; with the
 * check by kurtosis of Sheikh, Sabir and Bovik, IEEE TIP 15, 2006): F with n - 1 and n - 1 degrees
 * of freedom, two-sided. Scores must be mapped to the scale of the targets, each predictor by its own fit. The
 * test takes the two sets of residuals as independent; on the same images they seldom are, which makes it
 * cautious. `williamsTest` and the bootstrap of the paired difference use that they are paired.
 */
export function residualVarianceTest(
  baseline: Numbers,
  candidate: Numbers,
  targets: Numbers,
): ResidualVarianceTest | UndefinedBecause {
  const problem = pairProblem(baseline, targets, 2) ?? pairProblem(candidate, targets, 2);
  if (problem !== undefined) return problem;
  const from = residualShape(baseline, targets);
  const to = residualShape(candidate, targets);
  for (const [name, { variance }] of [
    ['baseline', from],
    ['candidate', to],
  ] as const) {
    if (!Number.isFinite(variance)) {
      return undefinedBecause('not-finite', `the residuals of the ${name} are too large to compute with`);
    }
    if (variance === 0) {
      return undefinedBecause('constant-residuals', `the residuals of the ${name} do not vary`);
    }
  }
  const degreesOfFreedom = targets.length - 1;
  const statistic = to.variance / from.variance;
  const larger = Math.max(statistic, 1 / statistic);
  return {
    status: 'ok',
    statistic,
    // Both sides have the same degrees of freedom, so 1 / F is distributed as F.
    pValue: Math.min(1, 2 * fUpperTail(larger, degreesOfFreedom, degreesOfFreedom)),
    degreesOfFreedom,
    baseline: from,
    candidate: to,
  };
}

function residualShape(scores: Numbers, targets: Numbers): ResidualShape {
  const n = targets.length;
  let mean = 0;
  for (let i = 0; i < n; i++) mean += (scores[i]! - targets[i]!) / n;
  let second = 0;
  let fourth = 0;
  for (let i = 0; i < n; i++) {
    const square = (scores[i]! - targets[i]! - mean) ** 2;
    second += square;
    fourth += square * square;
  }
  const kurtosis = (n * fourth) / (second * second);
  return { variance: second / (n - 1), kurtosis, nearNormal: kurtosis >= 2 && kurtosis <= 4 };
}
