import type { Interval } from '../../metrics/index.ts';
import type { Estimate, Summary } from '../summarize.ts';
import { type Html, html, NOTHING } from './html.ts';
import { DASH, ENOUGH_SCORED, intervalText, metricCell } from './numbers.ts';
import type { QuotedResult, ReportData } from './report-data.ts';
import { SERIES_COLORS } from './theme.ts';

type EstimateName = 'srcc' | 'plcc' | 'plccLogistic4' | 'krcc' | 'rmse' | 'mae';

const COLUMNS: readonly { name: EstimateName; label: string; best: 'highest' | 'lowest' }[] = [
  { name: 'srcc', label: 'SRCC', best: 'highest' },
  { name: 'plcc', label: 'PLCC', best: 'highest' },
  { name: 'plccLogistic4', label: 'PLCC, logistic-4', best: 'highest' },
  { name: 'krcc', label: 'KRCC', best: 'highest' },
  { name: 'rmse', label: 'RMSE', best: 'lowest' },
  { name: 'mae', label: 'MAE', best: 'lowest' },
];

export const splitsOf = (data: ReportData): string[] => [
  ...new Set(data.models.flatMap((model) => model.splits.map(({ split }) => split))),
];

export const summaryOf = (data: ReportData, model: string, split: string): Summary | undefined =>
  data.models.find(({ name }) => name === model)?.splits.find((one) => one.split === split)?.summary;

/** One block of rows per split: each model with its values and intervals, then what others have published. */
export function resultsTable(data: ReportData): Html {
  const span = correlationSpan(data);
  const header = html`<tr><th scope="col">model</th>${COLUMNS.map(
    ({ name, label }) =>
      html`<th scope="col">${label}</th>${name === 'srcc' ? html`<th scope="col" class="span"><span>${span.low.toFixed(1)}</span><span>${span.high.toFixed(1)}</span></th>` : NOTHING}`,
  )}<th scope="col">scored</th></tr>`;
  const blocks = splitsOf(data).map((split) => {
    const rows = data.models.flatMap(({ name }, i) => {
      const summary = summaryOf(data, name, split);
      if (summary === undefined) return [];
      const cells = COLUMNS.map((column) => {
        const best = isBest(data, split, name, column);
        const value = valueCell(summary[column.name], best);
        return column.name === 'srcc'
          ? html`${value}<td class="span">${whisker(summary.srcc, span, SERIES_COLORS[i % 8]!)}</td>`
          : value;
      });
      return [
        html`<tr><th scope="row"><i class="swatch" style="--swatch: ${SERIES_COLORS[i % 8]!}"></i>${name}</th>${cells}<td>${countText(summary)}</td></tr>`,
      ];
    });
    return html`<tbody><tr class="split"><th colspan="${COLUMNS.length + 3}" scope="rowgroup">${split}</th></tr>${rows}${quotedRows(data.quoted ?? [], split)}</tbody>`;
  });
  return html`<div class="scroll" tabindex="0" role="region" aria-label="results"><table class="results"><thead>${header}</thead>${blocks}</table></div>
<p class="note">${coverage(data)}Figures are over the pictures with a score; PLCC, RMSE and MAE are of raw scores on the scale 1 to 5. Bold: best of the models measured here.${
    (data.quoted ?? []).length === 0
      ? ''
      : ' Quoted rows are as published, under the protocol of their source.'
  }</p>`;
}

/** How many of the pictures the figures are about. */
const countText = ({ scored, n }: Summary): Html | number =>
  scored === n
    ? n
    : html`${scored} <small>${scored < ENOUGH_SCORED * n ? html`<strong class="warn">of ${n}</strong>` : html`of ${n}`}</small>`;

export function isBest(
  data: ReportData,
  split: string,
  model: string,
  { name, best }: Pick<(typeof COLUMNS)[number], 'name' | 'best'>,
): boolean {
  const values = data.models.flatMap((one) => {
    const value = summaryOf(data, one.name, split)?.[name].value;
    return value?.status === 'ok' ? [{ model: one.name, value: value.value }] : [];
  });
  if (values.length < 2) return false;
  const sign = best === 'highest' ? 1 : -1;
  const top = Math.max(...values.map(({ value }) => sign * value));
  return values.some((one) => one.model === model && sign * one.value === top);
}

function valueCell({ value, interval }: Estimate, best: boolean): Html {
  const range = intervalText(interval);
  const shown = metricCell(value);
  return html`<td>${best ? html`<strong>${shown}</strong>` : shown}${range === '' ? NOTHING : html` <small>${range}</small>`}</td>`;
}

/** The ends of the whiskers' common scale: tenths that hold all intervals. */
function correlationSpan(data: ReportData): { low: number; high: number } {
  const ends = data.models.flatMap(({ splits }) =>
    splits.flatMap(({ summary: { srcc } }) => [
      ...(srcc.value.status === 'ok' ? [srcc.value.value] : []),
      ...(srcc.interval.status === 'ok' ? [srcc.interval.low, srcc.interval.high] : []),
    ]),
  );
  if (ends.length === 0) return { low: 0, high: 1 };
  const low = Math.floor(Math.min(...ends) * 10) / 10;
  const high = Math.ceil(Math.max(...ends) * 10) / 10;
  return low === high ? { low, high: low + 0.1 } : { low, high };
}

/** A dot and its interval on the common scale. The numbers stand beside it. */
function whisker({ value, interval }: Estimate, span: { low: number; high: number }, color: string): Html {
  if (value.status !== 'ok') return NOTHING;
  const at = (one: number) => `${((100 * (one - span.low)) / (span.high - span.low)).toFixed(1)}%`;
  const [low, high] = interval.status === 'ok' ? [interval.low, interval.high] : [value.value, value.value];
  return html`<span class="whisker" aria-hidden="true" style="--low: ${at(low)}; --high: ${at(high)}; --at: ${at(value.value)}; --swatch: ${color}"></span>`;
}

function quotedRows(quoted: readonly QuotedResult[], split: string): Html[] {
  const figure = (value: number | undefined) =>
    html`<td>${value === undefined ? DASH : value.toFixed(3)}</td>`;
  return quoted
    .filter((one) => one.split === split)
    .map(
      ({ model, srcc, plcc, source }) =>
        html`<tr class="quoted"><th scope="row">${model} <small>quoted: ${source}</small></th>${figure(srcc)}<td class="span"></td>${figure(plcc)}<td colspan="5"></td></tr>`,
    );
}

/** Mean over data sets, each weighted by its pictures with a score. Undefined unless every one has a value. */
export function weightedMean(
  summaries: readonly (Pick<Summary, 'srcc' | 'plcc' | 'scored'> | undefined)[],
  metric: 'srcc' | 'plcc',
): number | undefined {
  let [sum, weight] = [0, 0];
  for (const summary of summaries) {
    const value = summary?.[metric].value;
    if (summary === undefined || value?.status !== 'ok') return undefined;
    sum += value.value * summary.scored;
    weight += summary.scored;
  }
  return weight === 0 ? undefined : sum / weight;
}

function coverage({ models }: ReportData): string {
  const intervals: Interval[] = models.flatMap((model) =>
    model.splits.map(({ summary }) => summary.srcc.interval),
  );
  const levels = new Set(intervals.flatMap((one) => (one.status === 'ok' ? [`${100 * one.level} %`] : [])));
  return levels.size === 0
    ? ''
    : `Brackets: ${[...levels].join(' or ')} percentile bootstrap over pictures. `;
}
