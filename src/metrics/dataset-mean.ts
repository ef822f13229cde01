import { type Metric, metricValue, type UndefinedBecause, undefinedBecause } from './result.ts';

export interface DatasetValue {
  dataset: string;
  /** Images the value was measured on, at least 1. */
  n: number;
  value: Metric;
}

/**
 * How values of several data sets become one.
 * plain: sum(v) / k, the mean most papers print;
 * by-n: sum(n v) / sum(n);
 * fisher-z: tanh(sum((n - 3) atanh r) / sum(n - 3)), for correlations only: the z of each weighs by the inverse
 * of its variance (R. A. Fisher, Metron 1, 1921; Hedges and Olkin, Statistical Methods for Meta-Analysis, 1985,
 * chapter 11). It treats the data sets as samples of one correlation.
 */
export type DatasetMean = 'plain' | 'by-n' | 'fisher-z';

/** One value for several data sets. Has none when any data set has none: leaving it out would flatter. */
export function meanOverDatasets(rows: readonly DatasetValue[], how: DatasetMean): Metric {
  if (rows.length === 0) return undefinedBecause('nothing-to-count', 'no data set');
  let sum = 0;
  let total = 0;
  for (const row of rows) {
    if (!(Number.isInteger(row.n) && row.n >= 1)) {
      throw new RangeError(`${row.dataset}: got n = ${row.n}, allowed is a whole number from 1`);
    }
    if (row.value.status !== 'ok') return { ...row.value, detail: `${row.dataset}: ${row.value.detail}` };
    const term = TERM[how](row, row.value.value);
    if ('status' in term) return term;
    sum += term.weight * term.value;
    total += term.weight;
  }
  const mean = sum / total;
  return metricValue(how === 'fisher-z' ? Math.tanh(mean) : mean);
}

interface Term {
  value: number;
  weight: number;
}

const TERM: Record<DatasetMean, (row: DatasetValue, value: number) => Term | UndefinedBecause> = {
  plain: (_, value) => ({ value, weight: 1 }),
  'by-n': ({ n }, value) => ({ value, weight: n }),
  'fisher-z': ({ dataset, n }, value) => {
    if (!(value >= -1 && value <= 1)) {
      throw new RangeError(`${dataset}: got ${value}, Fisher's z is for correlations in [-1, 1]`);
    }
    if (n < 4)
      return undefinedBecause('too-few', `${dataset}: ${n} pair(s), at least 4 needed for Fisher's z`);
    if (Math.abs(value) === 1) {
      return undefinedBecause('perfect-correlation', `${dataset}: r = ${value} has no finite z`);
    }
    return { value: Math.atanh(value), weight: n - 3 };
  },
};
