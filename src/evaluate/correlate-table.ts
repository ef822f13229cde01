import type { Interval, Metric } from '../metrics/index.ts';
import type { CorrelateReport, CorrelationRow } from './correlate.ts';

const SHOWN_LINES = 10;

const number = (metric: Metric): string => (metric.status === 'ok' ? metric.value.toFixed(4) : 'undefined');

const range = (interval: Interval | null): string =>
  interval?.status === 'ok' ? `[${interval.low.toFixed(3)}, ${interval.high.toFixed(3)}]` : '-';

/** The report as a plain text table, with every reason for a missing value and every skipped line below. */
export function formatCorrelation(report: CorrelateReport): string {
  const fitted = report.fit === 'none' ? [] : [`PLCC ${report.fit}`, 'RMSE'];
  const header = ['group', 'n', 'SRCC', '95 %', 'PLCC', '95 %', 'KRCC', ...fitted];
  const all = [report.overall, ...report.groups];
  const body = all.map((row) => [
    row.group ?? 'all',
    String(row.n),
    number(row.srcc),
    range(row.srccInterval),
    number(row.plcc),
    range(row.plccInterval),
    number(row.krcc),
    ...fitCells(row),
  ]);
  const widths = header.map((title, i) => Math.max(title.length, ...body.map((cells) => cells[i]!.length)));
  const lines = [header, ...body].map((cells) =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  '),
  );
  const direction =
    report.direction === 'lower-better'
      ? `"${report.target}" is lower-better: correlations are with its negative, so that 1 is perfect`
      : `"${report.target}" is higher-better`;
  return [`${report.path}: "${report.prediction}" against "${report.target}"`, direction, ...lines]
    .concat(all.flatMap(reasons), skippedLines(report))
    .join('\n');
}

function fitCells({ fit }: CorrelationRow): string[] {
  if (fit === null) return [];
  return fit.status === 'ok' ? [fit.plcc.toFixed(4), fit.rmse.toPrecision(4)] : ['refused', '-'];
}

function reasons(row: CorrelationRow): string[] {
  const name = row.group ?? 'all';
  const notes = [row.srcc, row.plcc, row.srccInterval, row.plccInterval, row.fit].flatMap((metric) =>
    metric?.status === 'undefined-because' ? [`${name}: ${metric.detail}`] : [],
  );
  if (row.fit?.status === 'ok' && !row.fit.monotone) {
    notes.push(`${name}: the ${row.fit.model} curve is not monotone; it turns inside the data`);
  }
  return [...new Set(notes)];
}

function skippedLines({ skipped, rows }: CorrelateReport): string[] {
  if (skipped.length === 0) return [];
  const shown = skipped.slice(0, SHOWN_LINES).map(({ line, problem }) => `  line ${line}: ${problem}`);
  const more = skipped.length - shown.length;
  return [
    `${skipped.length} of ${rows} rows were left out:`,
    ...shown,
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}
