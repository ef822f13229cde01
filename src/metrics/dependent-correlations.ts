import { normalTwoSided, studentTwoSided } from './p-values.ts';
import { type Metric, type Numbers, type UndefinedBecause, undefinedBecause } from './result.ts';

/** Correlations among two predictors and the targets, of the same n images. */
export interface SharedTargetCorrelations {
  /** Of the baseline's scores with the targets. */
  baseline: number;
  /** Of the candidate's scores with the targets. */
  candidate: number;
  /** Of the baseline's scores with the candidate's. */
  between: number;
  n: number;
}

export interface SignificanceTest {
  status: 'ok';
  /** Positive where the candidate's value is the larger one. */
  statistic: number;
  /** Two-sided, in [0, 1]. */
  pValue: number;
  /** Null for a statistic that is normal in the limit. */
  degreesOfFreedom: number | null;
}

export type TestOutcome = SignificanceTest | UndefinedBecause;

/** The three correlations that the tests below need, by one measure (`plcc`, or `srcc` as an approximation). */
export function correlationsWithSharedTarget(
  baseline: Numbers,
  candidate: Numbers,
  targets: Numbers,
  correlation: (scores: Numbers, targets: Numbers) => Metric,
): (SharedTargetCorrelations & { status: 'ok' }) | UndefinedBecause {
  const first = correlation(baseline, targets);
  if (first.status !== 'ok') return first;
  const second = correlation(candidate, targets);
  if (second.status !== 'ok') return second;
  const between = correlation(baseline, candidate);
  if (between.status !== 'ok') return between;
  return {
    status: 'ok',
    baseline: first.value,
    candidate: second.value,
    between: between.value,
    n: targets.length,
  };
}

/**
 * Williams' test that two correlations sharing a variable are equal (E. J. Williams, Journal of the Royal
 * Statistical Society B 21, 1959; as T2 in J. H. Steiger, Psychological Bulletin 87, 1980, who recommends it):
 *   t = (r2 - r1) sqrt((n - 1)(1 + r12) / (2 (n - 1) / (n - 3) |R| + m^2 (1 - r12)^3)),  n - 3 degrees of freedom
 * with m the mean of r1 and r2, and |R| = 1 - r1^2 - r2^2 - r12^2 + 2 r1 r2 r12. Made for Pearson's r of normal
 * data; with Spearman's it is an approximation. Orient lower-better targets first, so that larger is better.
 */
export function williamsTest(correlations: SharedTargetCorrelations): TestOutcome {
  const problem = testProblem(correlations);
  if (problem !== undefined) return problem;
  const { baseline: r1, candidate: r2, between: r12, n } = correlations;
  const mean = (r1 + r2) / 2;
  const spread = ((2 * (n - 1)) / (n - 3)) * determinant(correlations) + mean ** 2 * (1 - r12) ** 3;
  const statistic = (r2 - r1) * Math.sqrt(((n - 1) * (1 + r12)) / spread);
  if (!Number.isFinite(statistic)) return determinedTargets(correlations);
  return { status: 'ok', statistic, pValue: studentTwoSided(statistic, n - 3), degreesOfFreedom: n - 3 };
}

/**
 * Steiger's test of the same (Psychological Bulletin 87, 1980): Dunn and Clark's difference of Fisher's z, with
 * the covariance taken at the mean correlation,
 *   z = (atanh r2 - atanh r1) sqrt(n - 3) / sqrt(2 - 2 c),
 *   c = (r12 (1 - 2 m^2) - m^2 (1 - 2 m^2 - r12^2) / 2) / (1 - m^2)^2.
 */
export function steigerTest(correlations: SharedTargetCorrelations): TestOutcome {
  const problem = testProblem(correlations);
  if (problem !== undefined) return problem;
  const { baseline: r1, candidate: r2, between: r12, n } = correlations;
  if (Math.abs(r1) === 1 || Math.abs(r2) === 1) {
    return undefinedBecause('perfect-correlation', `r = ${r1} and ${r2}: Fisher's z of 1 is infinite`);
  }
  const m2 = ((r1 + r2) / 2) ** 2;
  const covariance = (r12 * (1 - 2 * m2) - (m2 * (1 - 2 * m2 - r12 ** 2)) / 2) / (1 - m2) ** 2;
  const statistic = ((Math.atanh(r2) - Math.atanh(r1)) * Math.sqrt(n - 3)) / Math.sqrt(2 - 2 * covariance);
  if (!Number.isFinite(statistic)) return determinedTargets(correlations);
  return { status: 'ok', statistic, pValue: normalTwoSided(statistic), degreesOfFreedom: null };
}

const determinedTargets = ({ baseline, candidate, between }: SharedTargetCorrelations): UndefinedBecause =>
  undefinedBecause(
    'perfect-correlation',
    `r = ${baseline}, ${candidate} and ${between}: the two predictors together fix the targets`,
  );

/** Determinant of the correlation matrix of the three variables. */
const determinant = ({ baseline: r1, candidate: r2, between: r12 }: SharedTargetCorrelations): number =>
  Math.max(0, 1 - r1 ** 2 - r2 ** 2 - r12 ** 2 + 2 * r1 * r2 * r12);

const ROUNDING = 1e-9;

function testProblem(correlations: SharedTargetCorrelations): UndefinedBecause | undefined {
  const { baseline: r1, candidate: r2, between: r12, n } = correlations;
  for (const r of [r1, r2, r12]) {
    if (!(r >= -1 && r <= 1)) throw new RangeError(`correlation: got ${r}, allowed is -1 to 1`);
  }
  if (1 - r1 ** 2 - r2 ** 2 - r12 ** 2 + 2 * r1 * r2 * r12 < -ROUNDING) {
    throw new RangeError(
      `correlations ${r1} and ${r2} with the targets and ${r12} between the predictors cannot occur together`,
    );
  }
  if (n < 4) return undefinedBecause('too-few', `${n} image(s), at least 4 needed`);
  if (Math.abs(r12) > 1 - ROUNDING) {
    return undefinedBecause('identical-predictors', `the two predictors correlate fully, r = ${r12}`);
  }
  return undefined;
}
