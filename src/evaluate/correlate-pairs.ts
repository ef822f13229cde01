import {
  bootstrapIntervals,
  correlationsWithSharedTarget,
  fitLogistic,
  type Interval,
  type Metric,
  metricValue,
  plcc,
  type ResampledStatistic,
  type ResidualVarianceTest,
  resampledDifference,
  resampledPlcc,
  resampledSrcc,
  residualVarianceTest,
  srcc,
  steigerTest,
  type TestOutcome,
  type UndefinedBecause,
  undefinedBecause,
  williamsTest,
} from '../metrics/index.ts';
import type { RowOptions } from './correlate-row.ts';
import { LEAST_ROWS } from './least-rows.ts';

/** One correlation of two predictors with the same targets, on the same rows. */
export interface CorrelationDifference {
  /** Candidate minus baseline. */
  difference: Metric;
  /** Percentile bootstrap of the paired difference; null when no intervals were asked for. */
  interval: Interval | null;
  /** Both presume normal data and Pearson's r; for SRCC they are approximations. */
  williams: TestOutcome;
  steiger: TestOutcome;
}

export interface PairRow {
  group: string | null;
  n: number;
  srcc: CorrelationDifference;
  plcc: CorrelationDifference;
  /** VQEG's F-test on the residuals after each predictor's own fit; null when no fit was asked for. */
  residuals: ResidualVarianceTest | UndefinedBecause | null;
}

/** Two predictors on the rows that both scored: the first is the baseline. */
export function pairRow(
  group: string | null,
  baseline: Float64Array,
  candidate: Float64Array,
  targets: Float64Array,
  { direction, fit, resamples, level, rng }: RowOptions,
): PairRow {
  const n = targets.length;
  if (n < LEAST_ROWS) return withoutValues(group, n, fit !== 'none', resamples > 0);
  const oriented = targets.map((value) => direction * value);
  const paired = (resampled: typeof resampledSrcc): ResampledStatistic =>
    resampledDifference(resampled(baseline, oriented), resampled(candidate, oriented));
  const intervals =
    resamples === 0
      ? null
      : bootstrapIntervals(
          n,
          { srcc: paired(resampledSrcc), plcc: paired(resampledPlcc) },
          { resamples, level, rng },
        );
  const difference = (metric: typeof srcc, interval: Interval | null): CorrelationDifference => {
    const shared = correlationsWithSharedTarget(baseline, candidate, oriented, metric);
    if (shared.status !== 'ok') return withoutDifference(shared, interval !== null);
    return {
      difference: metricValue(shared.candidate - shared.baseline),
      interval,
      williams: williamsTest(shared),
      steiger: steigerTest(shared),
    };
  };
  const residuals = (): PairRow['residuals'] => {
    if (fit === 'none') return null;
    const from = fitLogistic(baseline, targets, fit, { direction });
    const to = fitLogistic(candidate, targets, fit, { direction });
    if (from.status !== 'ok') return from;
    if (to.status !== 'ok') return to;
    return residualVarianceTest(from.fitted, to.fitted, targets);
  };
  return {
    group,
    n,
    srcc: difference(srcc, intervals?.srcc ?? null),
    plcc: difference(plcc, intervals?.plcc ?? null),
    residuals: residuals(),
  };
}

const withoutDifference = (why: UndefinedBecause, intervals: boolean): CorrelationDifference => ({
  difference: why,
  interval: intervals ? why : null,
  williams: why,
  steiger: why,
});

function withoutValues(group: string | null, n: number, fit: boolean, intervals: boolean): PairRow {
  const why = undefinedBecause('too-few', `${n} row(s), at least ${LEAST_ROWS} needed`);
  const difference = withoutDifference(why, intervals);
  return { group, n, srcc: difference, plcc: difference, residuals: fit ? why : null };
}
