import { type DatasetMean, type Metric, meanOverDatasets } from '../../metrics/index.ts';
import type { Summary } from '../summarize.ts';
import type { EvaluationPlan } from './plan.ts';
import type { SuiteMetric } from './suite.ts';

export const METRIC_NAMES: Readonly<Record<SuiteMetric, string>> = {
  srcc: 'SRCC',
  plcc: 'PLCC',
  plccLogistic4: 'PLCC log.',
  krcc: 'KRCC',
  rmse: 'RMSE',
  mae: 'MAE',
};

/** One model or baseline, or published figures, in the table of a suite. */
export interface SuiteRow {
  /** `quoted`: published, not measured here. */
  kind: 'model' | 'baseline' | 'quoted';
  model: string;
  /** Null for quoted figures and baselines. */
  reading: string | null;
  /** Where quoted figures were published. */
  source?: string;
  note?: string;
  /** By the id of the entry; absent where there is none. */
  cells: Record<string, SuiteCell>;
  /** Over the entries, by metric: only for two and more, and where there is a cell for each. */
  means?: Partial<Record<SuiteMetric, SuiteMeans>>;
}

/** `plain` is the mean that papers print; the others weigh by the number of images. */
export type SuiteMeans = Partial<Record<DatasetMean, Metric>>;

const CORRELATIONS: readonly SuiteMetric[] = ['srcc', 'plcc', 'plccLogistic4', 'krcc'];

/** The row with its means over the entries. */
export function withMeans(
  row: SuiteRow,
  { entries, metrics }: Pick<EvaluationPlan, 'entries' | 'metrics'>,
): SuiteRow {
  if (entries.length < 2) return row;
  const means: NonNullable<SuiteRow['means']> = {};
  for (const metric of metrics) {
    const cells = entries.flatMap(({ id }) => {
      const cell = row.cells[id];
      const value = cell?.values[metric];
      return value === undefined ? [] : [{ dataset: id, n: cell?.n ?? null, value }];
    });
    if (cells.length < entries.length) continue;
    means[metric] = {
      plain: meanOverDatasets(
        cells.map((cell) => ({ ...cell, n: 1 })),
        'plain',
      ),
    };
    const counted = cells.flatMap(({ n, ...cell }) => (n === null ? [] : [{ ...cell, n }]));
    if (counted.length < cells.length) continue;
    means[metric]['by-n'] = meanOverDatasets(counted, 'by-n');
    if (CORRELATIONS.includes(metric)) means[metric]['fisher-z'] = meanOverDatasets(counted, 'fisher-z');
  }
  return { ...row, means };
}

export interface SuiteCell {
  /** Images, and those with a score; absent in quoted figures. */
  n?: number;
  scored?: number;
  values: Partial<Record<SuiteMetric, Metric>>;
}

export const cellOf = (summary: Summary): SuiteCell => ({
  n: summary.n,
  scored: summary.scored,
  values: Object.fromEntries(
    (Object.keys(METRIC_NAMES) as SuiteMetric[]).map((metric) => [metric, summary[metric].value]),
  ),
});

/** Published figures as rows, for the entries that the plan holds. */
export function quotedRows({ quoted, entries }: Pick<EvaluationPlan, 'quoted' | 'entries'>): SuiteRow[] {
  return quoted.flatMap(({ model, source, note, results }): SuiteRow[] => {
    const cells: Record<string, SuiteCell> = {};
    for (const { id } of entries) {
      const result = results[id];
      if (result === undefined) continue;
      const values: SuiteCell['values'] = {};
      for (const metric of ['srcc', 'plcc'] as const) {
        const value = result[metric];
        if (value !== undefined) values[metric] = { status: 'ok', value };
      }
      cells[id] = { values };
    }
    if (Object.keys(cells).length === 0) return [];
    return [{ kind: 'quoted', model, reading: null, source, ...(note === undefined ? {} : { note }), cells }];
  });
}

const shown = (metric: Metric | undefined): string =>
  metric === undefined ? '-' : metric.status === 'ok' ? metric.value.toFixed(3) : 'none';

const labelOf = ({ kind, model, reading }: SuiteRow): string =>
  kind === 'quoted' ? `${model} (quoted)` : reading === null ? `${model} (baseline)` : `${model}, ${reading}`;

/** Header and cells: a column for the name, then the metrics of every entry. */
function cellsOf(
  rows: readonly SuiteRow[],
  { entries, metrics }: Pick<EvaluationPlan, 'entries' | 'metrics'>,
) {
  const averaged = rows.some(({ means }) => means !== undefined) ? metrics : [];
  const header = [
    '',
    ...entries.flatMap(({ id }) => metrics.map((metric) => `${id} ${METRIC_NAMES[metric]}`)),
    ...averaged.map((metric) => `mean ${METRIC_NAMES[metric]}`),
  ];
  const body = rows.map((row) => [
    labelOf(row),
    ...entries.flatMap(({ id }) => metrics.map((metric) => shown(row.cells[id]?.values[metric]))),
    ...averaged.map((metric) => shown(row.means?.[metric]?.plain)),
  ]);
  return { header, body };
}

/** Everything said below the table: scores that are missing, and where quoted figures come from. */
function notesOf(rows: readonly SuiteRow[], { metrics }: Pick<EvaluationPlan, 'metrics'>): string[] {
  const missing = rows.flatMap((row) =>
    Object.entries(row.cells).flatMap(([id, { n, scored }]) =>
      n === undefined || scored === undefined || n === scored
        ? []
        : [`${labelOf(row)}: ${n - scored} of ${n} answers about ${id} have no score and are left out`],
    ),
  );
  const undefinedOnes = rows.flatMap((row) =>
    Object.entries(row.cells).flatMap(([id, { values }]) =>
      metrics.flatMap((name) => {
        const metric = values[name];
        return metric === undefined || metric.status === 'ok'
          ? []
          : [`${labelOf(row)}, ${id}: ${metric.detail}`];
      }),
    ),
  );
  const sources = rows.flatMap((row) =>
    row.source === undefined
      ? []
      : [`${labelOf(row)}: ${row.source}${row.note === undefined ? '' : `; ${row.note}`}; not measured here`],
  );
  return [...missing, ...new Set(undefinedOnes), ...sources];
}

/** Plain text for a terminal. */
export function suiteText(rows: readonly SuiteRow[], plan: EvaluationPlan): string {
  const { header, body } = cellsOf(rows, plan);
  const widths = header.map((title, i) => Math.max(title.length, ...body.map((cells) => cells[i]!.length)));
  const lines = [header, ...body].map((cells) =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  '),
  );
  return [plan.title, ...lines, ...notesOf(rows, plan)].join('\n');
}

const escaped = (text: string): string => text.replaceAll('|', '\\|');

export function suiteMarkdown(rows: readonly SuiteRow[], plan: EvaluationPlan): string {
  const { header, body } = cellsOf(rows, plan);
  const line = (cells: readonly string[]): string => `| ${cells.map(escaped).join(' | ')} |`;
  const rule = `|${header.map((_, i) => (i === 0 ? '---|' : '---:|')).join('')}`;
  const notes = notesOf(rows, plan).map((note) => `- ${note}`);
  return [`# ${plan.title}`, '', line(header), rule, ...body.map(line), '', ...notes]
    .join('\n')
    .trimEnd()
    .concat('\n');
}
