import type { Interval } from '../../metrics/index.ts';
import type { Summary } from '../summarize.ts';
import { excludesZero } from './comparison-table.ts';
import { type Html, html, NOTHING } from './html.ts';
import { intervalText, metricText, scoredText, signed } from './numbers.ts';
import type { ReportData } from './report-data.ts';
import { splitsOf, summaryOf } from './results-table.ts';

/** More cards than this say less than the table under them. */
const MOST_CARDS = 4;

/** The last model's SRCC per split, with the paired difference to its baseline where there is one. */
export function headlines(data: ReportData): Html {
  const model = data.models.at(-1);
  if (model === undefined) return NOTHING;
  const cards = splitsOf(data).flatMap((split) => {
    const summary = summaryOf(data, model.name, split);
    if (summary === undefined) return [];
    const comparison = data.comparisons.find((one) => one.split === split && one.candidate === model.name);
    return [
      html`<div class="headline"><div class="what">${split}</div>
${headlineValue(summary)}
${comparison === undefined ? NOTHING : headlineDifference(comparison.baseline, comparison.result.srcc)}</div>`,
    ];
  });
  if (cards.length === 0 || cards.length > MOST_CARDS) return NOTHING;
  return html`<p class="whose">SRCC of <b>${model.name}</b></p><div class="headlines" style="max-width: ${22 * cards.length}rem">${cards}</div>`;
}

function headlineValue({ srcc, plcc, scored, n }: Summary): Html {
  const count = scoredText(scored, n);
  if (srcc.value.status !== 'ok') {
    return html`<div class="value">${scored === 0 ? 'no score' : 'no SRCC'}</div>
<div class="note">${scored === 0 ? html`none of ${n} answers has a score` : html`${srcc.value.detail}; ${count}`}</div>`;
  }
  const parts = [intervalText(srcc.interval)];
  if (plcc.value.status === 'ok') parts.push(`PLCC ${metricText(plcc.value)}`);
  const text = parts.filter((part) => part !== '').map((part) => `${part}, `);
  return html`<div class="value">${metricText(srcc.value)}</div>
<div class="note">${text}${count}</div>`;
}

function headlineDifference(
  baseline: string,
  { difference, interval }: ReportData['comparisons'][number]['result']['srcc'],
): Html {
  if (difference.status !== 'ok')
    return html`<div class="note">not compared with ${baseline}: ${difference.detail}</div>`;
  if (isNothing(difference.value, interval))
    return html`<div class="same">no difference to ${baseline} <small>the same ranking</small></div>`;
  const tone = !excludesZero(interval) ? 'same' : difference.value > 0 ? 'better' : 'worse';
  const verdict =
    tone === 'same' ? 'within the noise' : tone === 'better' ? 'clearly better' : 'clearly worse';
  return html`<div class="${tone}">${signed(difference.value)} against ${baseline} <small>${verdict}</small></div>`;
}

/** Both models rank alike, for example because GRPO kept the cold start. */
const isNothing = (difference: number, interval: Interval): boolean =>
  difference === 0 && interval.status === 'ok' && interval.low === 0 && interval.high === 0;
