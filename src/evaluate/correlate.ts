import { InputError, Rng, writeFileAtomic } from '../core/index.ts';
import {
  bootstrapIntervals,
  type Direction,
  fitLogistic,
  type Interval,
  krcc,
  type LogisticFit,
  type LogisticModel,
  type Metric,
  plcc,
  resampledPlcc,
  resampledSrcc,
  srcc,
  type UndefinedBecause,
} from '../metrics/index.ts';
import { type NumberRow, readNumberColumns, type SkippedLine } from './number-columns.ts';

export interface CorrelateOptions {
  /** A CSV file with a header line. */
  path: string;
  /** Column of predicted scores. */
  prediction: string;
  /** Column of subjective targets (MOS or DMOS). */
  target: string;
  /** Column whose values split the rows into groups, each measured alone as well. */
  by?: string;
  /** The targets are DMOS-like: lower is better. SRCC, PLCC and KRCC then change sign, so that 1 is perfect. */
  lowerBetter?: boolean;
  /** Mapping fitted before the second PLCC, default "logistic4". */
  fit?: LogisticModel | 'none';
  delimiter?: string;
  /** Bootstrap resamples, default 1000; 0 for no intervals. */
  resamples?: number;
  seed?: number | string;
  /** Also write the report as JSON to this path. */
  json?: string;
}

export interface CorrelationRow {
  /** Value of the `by` column; null for all rows together. */
  group: string | null;
  n: number;
  srcc: Metric;
  plcc: Metric;
  krcc: Metric;
  /** Null when not asked for. */
  srccInterval: Interval | null;
  plccInterval: Interval | null;
  fit: Omit<LogisticFit, 'fitted'> | UndefinedBecause | null;
}

export interface CorrelateReport {
  path: string;
  prediction: string;
  target: string;
  by: string | null;
  direction: 'higher-better' | 'lower-better';
  fit: LogisticModel | 'none';
  rows: number;
  skipped: SkippedLine[];
  overall: CorrelationRow;
  groups: CorrelationRow[];
}

/** SRCC, PLCC (raw and mapped) and KRCC of two columns of a CSV file. */
export async function correlateFile(options: CorrelateOptions): Promise<CorrelateReport> {
  const { path, prediction, target, by, lowerBetter = false, fit = 'logistic4' } = options;
  const { rows, skipped } = await readNumberColumns(path, [prediction, target], {
    ...(by === undefined ? {} : { label: by }),
    ...(options.delimiter === undefined ? {} : { delimiter: options.delimiter }),
  });
  if (rows.length === 0) {
    throw new InputError(`${path} has no row with a number in both "${prediction}" and "${target}"`, {
      hint:
        skipped.length === 0
          ? 'the file has a header line only'
          : `first problem: line ${skipped[0]!.line}, ${skipped[0]!.problem}`,
    });
  }
  const measure = (group: string | null, members: readonly NumberRow[]): CorrelationRow =>
    correlationRow(group, members, lowerBetter ? -1 : 1, { ...options, fit });
  const groups = new Map<string, NumberRow[]>();
  for (const row of by === undefined ? [] : rows) {
    const group = groups.get(row.label);
    if (group === undefined) groups.set(row.label, [row]);
    else group.push(row);
  }
  const report: CorrelateReport = {
    path,
    prediction,
    target,
    by: by ?? null,
    direction: lowerBetter ? 'lower-better' : 'higher-better',
    fit,
    rows: rows.length + skipped.length,
    skipped,
    overall: measure(null, rows),
    groups: [...groups].map(([group, members]) => measure(group, members)),
  };
  if (options.json !== undefined) await writeFileAtomic(options.json, `${JSON.stringify(report, null, 2)}\n`);
  return report;
}

function correlationRow(
  group: string | null,
  rows: readonly NumberRow[],
  direction: Direction,
  options: CorrelateOptions & { fit: LogisticModel | 'none' },
): CorrelationRow {
  const scores = Float64Array.from(rows, (row) => row.values[0]!);
  const targets = Float64Array.from(rows, (row) => row.values[1]!);
  const oriented = targets.map((value) => direction * value);
  const { resamples = 1000, seed = 0 } = options;
  const intervals =
    resamples === 0
      ? null
      : bootstrapIntervals(
          rows.length,
          { srcc: resampledSrcc(scores, oriented), plcc: resampledPlcc(scores, oriented) },
          { resamples, rng: new Rng(seed).fork('bootstrap', 'correlate', group ?? '') },
        );
  return {
    group,
    n: rows.length,
    srcc: srcc(scores, oriented),
    plcc: plcc(scores, oriented),
    krcc: krcc(scores, oriented),
    srccInterval: intervals?.srcc ?? null,
    plccInterval: intervals?.plcc ?? null,
    fit: options.fit === 'none' ? null : fitWithoutCurve(scores, targets, options.fit, direction),
  };
}

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
