import type { TestOutcome, UndefinedBecause } from '../metrics/index.ts';
import type { ColumnPair, CorrelateReport } from './correlate.ts';
import type { CorrelationDifference, PairRow } from './correlate-pairs.ts';
import { ALL, intervalCell, type TextTable, UNDEFINED } from './tables/index.ts';

/** Differences between two prediction columns with what tells them from chance. */
export function pairTable(report: CorrelateReport, { rows }: ColumnPair): TextTable {
  const coverage = `${100 * report.intervals.level} %`;
  const header = [report.by ?? 'rows', 'n', 'SRCC', coverage, 'p Steiger', 'PLCC', coverage, 'p Williams'];
  if (report.fit !== 'none') header.push('F', 'p F');
  return {
    header,
    rows: rows.map(({ group, n, srcc, plcc, residuals }) => [
      group ?? ALL,
      String(n),
      signedCell(srcc),
      intervalCell(srcc.interval),
      probabilityCell(srcc.steiger),
      signedCell(plcc),
      intervalCell(plcc.interval),
      probabilityCell(plcc.williams),
      ...(residuals === null
        ? []
        : residuals.status === 'ok'
          ? [residuals.statistic.toFixed(3), probabilityCell(residuals)]
          : ['-', '-']),
    ]),
  };
}

function signedCell({ difference }: CorrelationDifference): string {
  if (difference.status !== 'ok') return UNDEFINED;
  return `${difference.value < 0 ? '' : '+'}${difference.value.toFixed(4)}`;
}

export function probabilityCell(test: Pick<TestOutcome, 'status'> & { pValue?: number }): string {
  if (test.status !== 'ok' || test.pValue === undefined) return '-';
  return test.pValue < 1e-4 ? '<0.0001' : test.pValue.toFixed(4);
}

/** Why a test has no value, and where its assumptions do not hold. */
export function pairRemarks({ a, b, rows }: ColumnPair): string[] {
  const sentences = rows.flatMap((row) => {
    const name = `"${b}" minus "${a}", ${row.group ?? 'all rows'}`;
    return [...undefinedDetails(row), ...residualRemark(row)].map((detail) => `${name}: ${detail}`);
  });
  if (rows.length > 2) {
    sentences.push(`"${b}" minus "${a}": p are of each row alone, not adjusted for ${rows.length} rows`);
  }
  return [...new Set(sentences)];
}

const undefinedDetails = ({ srcc, plcc, residuals }: PairRow): string[] =>
  [srcc, plcc]
    .flatMap(({ difference, interval, williams, steiger }) => [difference, interval, williams, steiger])
    .concat([residuals as UndefinedBecause | null])
    .flatMap((part) => (part?.status === 'undefined-because' ? [part.detail] : []));

function residualRemark({ residuals }: PairRow): string[] {
  if (residuals?.status !== 'ok') return [];
  const heavy = [residuals.baseline, residuals.candidate].filter(({ nearNormal }) => !nearNormal);
  const kurtosis = heavy.map((shape) => shape.kurtosis.toFixed(1)).join(' and ');
  return heavy.length === 0
    ? []
    : [`residuals are not near normal (kurtosis ${kurtosis}, normal is 3), which the F-test presumes`];
}
