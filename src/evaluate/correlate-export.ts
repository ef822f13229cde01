import { writeToString } from 'fast-csv';
import { writeFileAtomic } from '../core/index.ts';
import type { Interval, Metric } from '../metrics/index.ts';
import type { CorrelateReport, PredictionResult } from './correlate.ts';
import { MEAN_NAMES, protocol, remarks, resultTable } from './correlate-cells.ts';
import { pairTable } from './correlate-pairs-table.ts';
import type { CorrelationRow } from './correlate-row.ts';
import { type TextTable, UNDEFINED } from './tables/index.ts';

/** Files to write a report to; each format has all results. */
export interface ExportPaths {
  json?: string | null;
  csv?: string | null;
  latex?: string | null;
  markdown?: string | null;
}

/** Writes the report in each format asked for. */
export async function exportCorrelation(report: CorrelateReport, paths: ExportPaths): Promise<void> {
  const { json, csv, latex, markdown } = paths;
  if (json != null) await writeFileAtomic(json, `${JSON.stringify(report, null, 2)}\n`);
  if (csv != null) await writeFileAtomic(csv, await correlationCsv(report));
  if (latex != null) await writeFileAtomic(latex, correlationLatex(report));
  if (markdown != null) await writeFileAtomic(markdown, correlationMarkdown(report));
}

/** One line per result, complete in itself: numbers at full precision, and why one is missing. */
export async function correlationCsv(report: CorrelateReport): Promise<string> {
  const rows = report.results.flatMap((result) => [
    ...[result.overall, ...result.groups].map((row) => csvRow(report, result.prediction, row)),
    ...csvMeans(report, result),
  ]);
  return writeToString(rows, {
    headers: [...CSV_HEADER],
    alwaysWriteHeaders: true,
    includeEndRowDelimiter: true,
  });
}

const CSV_HEADER = [
  ...['prediction', 'target', 'by', 'group', 'n', 'direction'],
  ...['prediction_min', 'prediction_max', 'target_min', 'target_max'],
  ...['srcc', 'srcc_low', 'srcc_high', 'plcc', 'plcc_low', 'plcc_high', 'krcc'],
  ...['fit', 'fit_status', 'fit_parameters', 'plcc_fit', 'rmse_fit', 'undefined_because'],
  ...['files', 'files_sha256', 'labels_sha256', 'images_sha256'],
  ...['split', 'split_sha256', 'prompt_hash', 'checkpoint_sha256', 'sampling', 'code_version'],
] as const;

type CsvRow = Partial<Record<(typeof CSV_HEADER)[number], string | number>>;

function csvRow(report: CorrelateReport, prediction: string, row: CorrelationRow): CsvRow {
  const { scale, fit } = row;
  const [srcc, plcc] = [bounds(row.srccInterval), bounds(row.plccInterval)];
  const reasons = [row.srcc, row.plcc, row.krcc, fit].flatMap((part) =>
    part?.status === 'undefined-because' ? [part.detail] : [],
  );
  return {
    ...shared(report, prediction),
    ...{ group: row.group ?? '', n: row.n, direction: row.direction },
    prediction_min: scale?.prediction.min ?? '',
    prediction_max: scale?.prediction.max ?? '',
    target_min: scale?.target.min ?? '',
    target_max: scale?.target.max ?? '',
    ...{ srcc: number(row.srcc), srcc_low: srcc.low, srcc_high: srcc.high },
    ...{ plcc: number(row.plcc), plcc_low: plcc.low, plcc_high: plcc.high },
    krcc: number(row.krcc),
    fit_status: fit === null ? 'none' : fit.status === 'ok' ? 'converged' : fit.reason,
    fit_parameters: fit?.status === 'ok' ? fit.parameters.join(' ') : '',
    plcc_fit: fit?.status === 'ok' ? fit.plcc : '',
    rmse_fit: fit?.status === 'ok' ? fit.rmse : '',
    undefined_because: [...new Set(reasons)].join('; '),
  };
}

const csvMeans = (report: CorrelateReport, { prediction, means }: PredictionResult): CsvRow[] =>
  means.map(({ how, n, srcc, plcc, krcc, plccFitted }) => ({
    ...shared(report, prediction),
    ...{ group: MEAN_NAMES[how], n, direction: report.direction },
    ...{ srcc: number(srcc), plcc: number(plcc), krcc: number(krcc) },
    plcc_fit: plccFitted === null ? '' : number(plccFitted),
  }));

function shared(report: CorrelateReport, prediction: string): CsvRow {
  const ofRuns = (key: 'split' | 'splitHash' | 'promptHash' | 'checkpointHash' | 'sampling'): string =>
    [...new Set(report.runs.map((run) => run[key] ?? 'unknown'))].join(' ');
  return {
    ...{ prediction, target: report.target, by: report.by ?? '', fit: report.fit },
    files: report.files.map(({ path }) => path).join(' '),
    files_sha256: report.files.map(({ sha256 }) => sha256).join(' '),
    labels_sha256: report.labels?.sha256 ?? '',
    images_sha256: report.imagesSha256 ?? '',
    split: ofRuns('split'),
    split_sha256: ofRuns('splitHash'),
    prompt_hash: ofRuns('promptHash'),
    checkpoint_sha256: ofRuns('checkpointHash'),
    sampling: ofRuns('sampling'),
    code_version: report.codeVersion ?? '',
  };
}

const number = (metric: Metric): number | '' => (metric.status === 'ok' ? metric.value : '');
const bounds = (interval: Interval | null): { low: number | ''; high: number | '' } =>
  interval?.status === 'ok' ? interval : { low: '', high: '' };

/** Tables under headings, then notices and the protocol as lists. */
export function correlationMarkdown(report: CorrelateReport): string {
  const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  const table = ({ header, rows }: TextTable): string[] => [
    line(header),
    line(header.map((_, i) => (i === 0 ? '---' : '---:'))),
    ...rows.map(line),
    '',
  ];
  const notices = [...report.notices, ...remarks(report)];
  return [
    ...report.results.flatMap((result) => [
      `### ${result.prediction} against ${report.target}`,
      '',
      ...table(resultTable(report, result)),
    ]),
    ...report.pairs.flatMap((pair) => [
      `### ${pair.b} minus ${pair.a}`,
      '',
      ...table(pairTable(report, pair)),
    ]),
    ...notices.map((notice) => `- note: ${notice}`),
    ...protocol(report).map(([label, value]) => `- ${label}: ${value}`),
    '',
  ].join('\n');
}

/** Rows for a tabular environment (a heading line first), the protocol as comments above. */
export function correlationLatex(report: CorrelateReport): string {
  const comments = [
    ...protocol(report).map(([label, value]) => `${label}: ${value}`),
    ...[...report.notices, ...remarks(report)].map((notice) => `note: ${notice}`),
  ];
  const several = report.results.length > 1;
  const rows = report.results.flatMap((result, i) => {
    const { header, rows: body } = resultTable(report, result);
    const named = (cells: string[], name: string) => (several ? [name, ...cells] : cells);
    return [
      ...(i === 0 ? [named(header, 'prediction')] : []),
      ...body.map((cells) => named(cells, result.prediction)),
    ];
  });
  return [
    ...comments.map((comment) => `% ${comment.replaceAll('\n', ' ')}`),
    ...rows.map((cells) => `${cells.map(latexCell).join(' & ')} \\\\`),
    '',
  ].join('\n');
}

const LATEX: Readonly<Record<string, string>> = {
  '\\': '\\textbackslash{}',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
};

const latexCell = (text: string): string =>
  text === UNDEFINED ? '--' : text.replace(/[\\~^&%$#_{}]/g, (sign) => LATEX[sign] ?? `\\${sign}`);
