import { type DatasetMean, type DatasetValue, type Metric, meanOverDatasets } from '../metrics/index.ts';
import type { CorrelationRow } from './correlate-row.ts';

/** Means over data sets. None of RMSE: it has the unit of each data set's own targets. */
export interface MeanRow {
  how: DatasetMean;
  /** Rows of all data sets together. */
  n: number;
  srcc: Metric;
  plcc: Metric;
  krcc: Metric;
  /** Of PLCC after each data set's own fit; null when no fit was asked for. */
  plccFitted: Metric | null;
}

/** Weighted by rows, as Q-Align and DeQA-Score report several data sets; and plain, as most tables do. */
const HOW = ['by-n', 'plain'] as const satisfies readonly DatasetMean[];

/** Means over the rows of several data sets, each with at least one row. */
export function meanRows(datasets: readonly CorrelationRow[]): MeanRow[] {
  return HOW.map((how) => {
    const mean = (read: (row: CorrelationRow) => Metric): Metric =>
      meanOverDatasets(
        datasets.map((row): DatasetValue => ({ dataset: row.group ?? '', n: row.n, value: read(row) })),
        how,
      );
    const fitted = datasets.some(({ fit }) => fit !== null);
    return {
      how,
      n: datasets.reduce((sum, { n }) => sum + n, 0),
      srcc: mean((row) => row.srcc),
      plcc: mean((row) => row.plcc),
      krcc: mean((row) => row.krcc),
      plccFitted: fitted ? mean(fittedPlcc) : null,
    };
  });
}

const fittedPlcc = ({ fit }: CorrelationRow): Metric =>
  fit?.status === 'ok' ? { status: 'ok', value: fit.plcc } : fit!;
