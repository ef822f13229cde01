import type { Rng } from '../core/index.ts';
import {
  bootstrapIntervals,
  correlations,
  type Direction,
  fitLogistic,
  type Interval,
  type LogisticFit,
  type LogisticModel,
  type Metric,
  resampledPlcc,
  resampledSrcc,
  type UndefinedBecause,
  undefinedBecause,
} from '../metrics/index.ts';
import { type Range, rangeOf } from './correlate-scales.ts';
import { LEAST_ROWS } from './least-rows.ts';

/** One measurement, with what is needed to put it beside another one. */
export interface CorrelationRow {
  /** Value of the `by` column; null for all rows together. */
  group: string | null;
  n: number;
  direction: 'higher-better' | 'lower-better';
  /** Smallest and largest value of both columns, null without rows. */
  scale: { prediction: Range; target: Range } | null;
  srcc: Metric;
  /** Of raw scores. */
  plcc: Metric;
  krcc: Metric;
  /** Null when not asked for. */
  srccInterval: Interval | null;
  plccInterval: Interval | null;
  /** Model, parameters, PLCC and RMSE after the fit, or why it was refused. Null when not asked for. */
  fit: Omit<LogisticFit, 'fitted'> | UndefinedBecause | null;
}

export interface RowOptions {
  direction: Direction;
  fit: LogisticModel | 'none';
  /** 0 for no intervals. */
  resamples: number;
  level: number;
  rng: Rng;
}

/** Scores and targets as they are in the files; `options.direction` says which way targets run. */
export function correlationRow(
  group: string | null,
  scores: Float64Array,
  targets: Float64Array,
  { direction, fit, resamples, level, rng }: RowOptions,
): CorrelationRow {
  const n = scores.length;
  const oriented = targets.map((value) => direction * value);
  const tooFew = n < LEAST_ROWS ? fewerThanLeast(n) : undefined;
  const intervals =
    resamples === 0 || tooFew !== undefined
      ? null
      : bootstrapIntervals(
          n,
          { srcc: resampledSrcc(scores, oriented), plcc: resampledPlcc(scores, oriented) },
          { resamples, level, rng },
        );
  const values =
    tooFew === undefined ? correlations(scores, oriented) : { srcc: tooFew, plcc: tooFew, krcc: tooFew };
  const interval = (name: 'srcc' | 'plcc'): Interval | null => {
    const value = values[name];
    return intervals === null ? null : value.status === 'ok' ? intervals[name] : value;
  };
  return {
    group,
    n,
    direction: direction === 1 ? 'higher-better' : 'lower-better',
    scale: n === 0 ? null : { prediction: rangeOf(scores), target: rangeOf(targets) },
    ...values,
    srccInterval: interval('srcc'),
    plccInterval: interval('plcc'),
    fit: fit === 'none' ? null : (tooFew ?? fitWithoutCurve(scores, targets, fit, direction)),
  };
}

const fewerThanLeast = (n: number): UndefinedBecause =>
  undefinedBecause(
    'too-few',
    `${n} row(s), at least ${LEAST_ROWS} needed: two points always correlate by 1 or -1`,
  );

function fitWithoutCurve(
  scores: Float64Array,
  targets: Float64Array,
  model: LogisticModel,
  direction: Direction,
): CorrelationRow['fit'] {
  const fit = fitLogistic(scores, targets, model, { direction });
  if (fit.status !== 'ok') return fit;
  const { fitted: _, ...rest } = fit;
  return rest;
}
