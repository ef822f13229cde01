import type { Interval, Metric } from '../../metrics/index.ts';
import type { Difference } from '../compare.ts';
import type { Estimate, Summary } from '../summarize.ts';
import { type Html, html, NOTHING } from './html.ts';
import { DASH, intervalText, metricCell, scoredText, signed, signedWithInterval } from './numbers.ts';
import type { ComparisonReport, ReportData } from './report-data.ts';

type EstimateName = 'srcc' | 'plcc' | 'plccLogistic4' | 'krcc' | 'rmse' | 'mae';

const ROWS: readonly { name: EstimateName; label: string; better: 'higher' | 'lower' }[] = [
  { name: 'srcc', label: 'SRCC', better: 'higher' },
  { name: 'plcc', label: 'PLCC, raw', better: 'higher' },
  { name: 'plccLogistic4', label: 'PLCC, logistic-4', better: 'higher' },
  { name: 'krcc', label: 'KRCC', better: 'higher' },
  { name: 'rmse', label: 'RMSE', better: 'lower' },
  { name: 'mae', label: 'MAE', better: 'lower' },
];

export const splitsOf = (data: ReportData): string[] => [
  ...new Set(data.models.flatMap((model) => model.splits.map(({ split }) => split))),
];

export const summaryOf = (data: ReportData, model: string, split: string): Summary | undefined =>
  data.models.find(({ name }) => name === model)?.splits.find((one) => one.split === split)?.summary;

/** One block of rows per split: each model's value with its interval, and each comparison's difference. */
export function resultsTable(data: ReportData): Html {
  const pairs = [
    ...new Map(data.comparisons.map((one) => [`${one.baseline}\n${one.candidate}`, one])).values(),
  ];
  const header = html`<tr><th scope="col">metric</th>${data.models.map(({ name }) => html`<th scope="col">${name}</th>`)}${pairs.map(
    (pair) => html`<th scope="col">${pair.candidate} ${'\u2212'} ${pair.baseline}</th>`,
  )}</tr>`;
  const blocks = splitsOf(data).map((split) => {
    const summaries = data.models.map(({ name }) => summaryOf(data, name, split));
    const rows = ROWS.map(
      ({ name, label, better }) =>
        html`<tr><th scope="row">${label}</th>${summaries.map((summary) => valueCell(summary?.[name]))}${pairs.map(
          (pair) => differenceCell(data, pair, split, name, better),
        )}</tr>`,
    );
    return html`<tbody><tr class="split"><th colspan="${1 + data.models.length + pairs.length}">${split} <small>${splitCounts(data, split)}</small></th></tr>${rows}</tbody>`;
  });
  return html`<div class="scroll" tabindex="0" role="region" aria-label="results"><table class="results"><thead>${header}</thead>${blocks}</table></div>
<p class="note">${coverage(data)}Figures are over the pictures with a score. Differences with an interval are paired, on the same images; ${
    pairs.length === 0 ? 'no comparison was given.' : 'bold and coloured where it leaves out 0.'
  }</p>${seedNotes(data)}`;
}

/** One count where all models have it in common, each model's own otherwise. */
function splitCounts(data: ReportData, split: string): Html {
  const counts = data.models.flatMap(({ name }) => {
    const summary = summaryOf(data, name, split);
    return summary === undefined ? [] : [{ name, text: scoredText(summary.scored, summary.n) }];
  });
  const first = counts[0];
  if (first === undefined) return NOTHING;
  const paired = data.comparisons.flatMap((one) =>
    one.split === split && one.result.dropped > 0
      ? [html`; ${one.candidate} ${'\u2212'} ${one.baseline}: on ${one.result.images} scored by both`]
      : [],
  );
  if (counts.every(({ text }) => text.markup === first.text.markup)) return html`${first.text}${paired}`;
  return html`${counts.map(({ name, text }, i) => html`${i === 0 ? '' : '; '}${name}: ${text}`)}${paired}`;
}

function coverage({ models }: ReportData): string {
  const intervals = models.flatMap((model) => model.splits.map(({ summary }) => summary.srcc.interval));
  const levels = new Set(intervals.flatMap((one) => (one.status === 'ok' ? [`${100 * one.level} %`] : [])));
  return levels.size === 0 ? '' : `Brackets: ${[...levels].join(' or ')} percentile bootstrap over images. `;
}

function valueCell(estimate: Estimate | undefined): Html {
  if (estimate === undefined) return html`<td>${DASH}</td>`;
  const range = intervalText(estimate.interval);
  return html`<td>${metricCell(estimate.value)}${range === '' ? NOTHING : html` <small>${range}</small>`}</td>`;
}

function differenceCell(
  data: ReportData,
  pair: ComparisonReport,
  split: string,
  name: EstimateName,
  better: 'higher' | 'lower',
): Html {
  const comparison = data.comparisons.find(
    (one) => one.split === split && one.baseline === pair.baseline && one.candidate === pair.candidate,
  );
  if (comparison !== undefined && isPaired(name)) {
    return pairedCell(comparison.result[name], better);
  }
  // Summaries are of one run: their difference does not belong beside a mean over seeds.
  if (comparison !== undefined && comparison.result.seeds.length > 1) return html`<td>${DASH}</td>`;
  const from = summaryOf(data, pair.baseline, split)?.[name].value;
  const to = summaryOf(data, pair.candidate, split)?.[name].value;
  if (from?.status !== 'ok' || to?.status !== 'ok') return html`<td>${DASH}</td>`;
  return html`<td>${signed(to.value - from.value)}</td>`;
}

const isPaired = (name: EstimateName): name is 'srcc' | 'plcc' | 'rmse' | 'mae' =>
  name !== 'plccLogistic4' && name !== 'krcc';

function pairedCell({ difference, interval }: Difference, better: 'higher' | 'lower'): Html {
  if (difference.status !== 'ok') return html`<td>${metricCell(difference)}</td>`;
  const text = signedWithInterval(difference.value, interval);
  if (!excludesZero(interval)) return html`<td>${text}</td>`;
  const tone = difference.value > 0 === (better === 'higher') ? 'better' : 'worse';
  return html`<td class="${tone}"><strong>${text}</strong></td>`;
}

export const excludesZero = (interval: Interval): boolean =>
  interval.status === 'ok' && (interval.low > 0 || interval.high < 0);

function seedNotes({ comparisons }: ReportData): Html {
  const pooled = comparisons.filter(({ result }) => result.seeds.length > 1);
  if (pooled.length === 0) return NOTHING;
  const text = (metric: Metric) => (metric.status === 'ok' ? metric.value.toFixed(3) : 'undefined');
  return html`<p class="note">The models' columns are one run; differences are means over seeds. SRCC by seed:${pooled.map(
    ({ split, result }) =>
      html`<br>${split}: ${result.srcc.perSeed.map(({ seed, baseline, candidate }) => `seed ${seed ?? 'none'} ${text(baseline)} → ${text(candidate)}`).join('; ')}`,
  )}</p>`;
}
