import type { Interval, Metric } from '../metrics/index.ts';
import type { CorrelateReport, PredictionResult } from './correlate.ts';
import type { MeanRow } from './correlate-means.ts';
import { pairRemarks } from './correlate-pairs-table.ts';
import type { CorrelationRow } from './correlate-row.ts';
import { rangeText } from './correlate-scales.ts';
import { ALL, intervalCell, metricCell, type TextTable } from './tables/index.ts';

export const MEAN_NAMES: Record<MeanRow['how'], string> = {
  'by-n': 'mean by n',
  plain: 'plain mean',
  'fisher-z': 'mean of z',
};

/** The rows that a paper prints, for one prediction column. */
export function resultTable(
  report: CorrelateReport,
  { overall, groups, means }: PredictionResult,
): TextTable {
  const coverage = `${100 * report.intervals.level} %`;
  const fitted = report.fit === 'none' ? [] : [`PLCC ${report.fit}`, 'RMSE'];
  const header = [report.by ?? 'rows', 'n', 'SRCC', coverage, 'PLCC', coverage, 'KRCC', ...fitted];
  const rows = [overall, ...groups].map((row) => [
    row.group ?? ALL,
    String(row.n),
    metricCell(row.srcc),
    intervalCell(row.srccInterval),
    metricCell(row.plcc),
    intervalCell(row.plccInterval),
    metricCell(row.krcc),
    ...(row.fit === null ? [] : fitCells(row)),
  ]);
  for (const { how, n, srcc, plcc, krcc, plccFitted } of means) {
    const [SRCC, PLCC, KRCC] = [srcc, plcc, krcc].map(metricCell) as [string, string, string];
    const fitCells = plccFitted === null ? [] : [metricCell(plccFitted), '-'];
    rows.push([MEAN_NAMES[how], String(n), SRCC, '-', PLCC, '-', KRCC, ...fitCells]);
  }
  return { header, rows };
}

const fitCells = ({ fit }: CorrelationRow): string[] =>
  fit?.status === 'ok' ? [fit.plcc.toFixed(4), fit.rmse.toPrecision(4)] : ['refused', '-'];

/** Why a value is missing, or what to know about one that is there: a sentence each, without repetition. */
export function remarks(report: CorrelateReport): string[] {
  const { results, pairs } = report;
  const sentences = results.flatMap(({ prediction, overall, groups, means }) => {
    const ofRows = [overall, ...groups].flatMap((row) => {
      const name = `"${prediction}", ${row.group ?? 'all rows'}`;
      const values = [row.srcc, row.plcc, row.krcc].flatMap(detailsOf);
      // An interval or a fit that is missing for the reason that the value is missing needs no second sentence.
      const more = [
        ...[row.srccInterval, row.plccInterval].flatMap(detailsOf).map((detail) => `no interval, ${detail}`),
        ...detailsOf(row.fit).map((detail) => `no ${report.fit} fit, ${detail}`),
      ];
      const missing = (values.length > 0 ? values : more).map((detail) => `${name}: ${detail}`);
      const turning =
        row.fit?.status === 'ok' && !row.fit.monotone
          ? [`${name}: the ${row.fit.model} curve is not monotone; it turns inside the data`]
          : [];
      return [...missing, ...turning];
    });
    const ofMeans = means.flatMap(({ how, srcc, plcc, krcc, plccFitted }) =>
      [srcc, plcc, krcc, plccFitted].flatMap((part) =>
        part?.status === 'undefined-because' ? [`"${prediction}", ${MEAN_NAMES[how]}: ${part.detail}`] : [],
      ),
    );
    return [...ofRows, ...ofMeans];
  });
  return [...new Set([...sentences, ...pairs.flatMap(pairRemarks)])];
}

const detailsOf = (part: Metric | Interval | CorrelationRow['fit']): string[] =>
  part?.status === 'undefined-because' ? [part.detail] : [];

/** What a reader needs to put these figures beside others, as label and value. */
export function protocol(report: CorrelateReport): [label: string, value: string][] {
  const { target, intervals, results } = report;
  const lines: [string, string][] = [...report.files, ...(report.labels === null ? [] : [report.labels])].map(
    ({ path, rows, sha256 }) => [
      path === report.labels?.path ? 'labels' : 'file',
      `${path}, ${rows} rows, SHA-256 ${sha256}`,
    ],
  );
  lines.push(['direction', directionText(report)]);
  for (const { prediction, overall } of results) {
    const { scale, fit } = overall;
    if (scale !== null) {
      lines.push([
        'scale',
        `"${prediction}" ${rangeText(scale.prediction)}, "${target}" ${rangeText(scale.target)}`,
      ]);
    }
    if (fit?.status === 'ok') {
      const parameters = fit.parameters.map((value, i) => `b${i + 1} ${Number(value.toPrecision(6))}`);
      lines.push(['fit', `"${prediction}", all rows: ${fit.model}, converged, ${parameters.join(', ')}`]);
    }
  }
  if (intervals.resamples > 0) {
    lines.push([
      'intervals',
      `percentile bootstrap, ${intervals.resamples} resamples, seed ${intervals.seed}`,
    ]);
  }
  if (report.imagesSha256 !== null)
    lines.push(['images', `SHA-256 of the sorted ids ${report.imagesSha256}`]);
  for (const run of report.runs) {
    const known: [string, string | null][] = [
      ['split', run.split],
      ['split hash', run.splitHash],
      ['prompt', run.prompt],
      ['prompt hash', run.promptHash],
      ['checkpoint', run.checkpointHash],
      ['sampling', run.sampling],
      ['made by', run.codeVersion === null ? null : `q-ponder ${run.codeVersion}`],
    ];
    const parts = known.flatMap(([name, value]) => (value === null ? [] : [`${name} ${value}`]));
    lines.push(['run', `${run.file}: ${parts.join(', ') || 'nothing is known'}`]);
  }
  if (report.codeVersion !== null) lines.push(['code', `q-ponder ${report.codeVersion}`]);
  return lines;
}

const directionText = ({ direction, target }: CorrelateReport): string =>
  direction === 'lower-better'
    ? `"${target}" is lower-better: correlations are with its negative, so that 1 is perfect`
    : `"${target}" is higher-better`;
