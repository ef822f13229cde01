import type { Interval, Metric } from '../../metrics/index.ts';
import type { Difference } from '../compare.ts';
import { type Html, html, NOTHING } from './html.ts';
import { DASH, metricCell, signedWithInterval } from './numbers.ts';
import type { ComparisonReport, ReportData, SignificanceRow } from './report-data.ts';

const COLUMNS = [
  { name: 'srcc', label: 'SRCC', better: 'higher' },
  { name: 'plcc', label: 'PLCC', better: 'higher' },
  { name: 'rmse', label: 'RMSE', better: 'lower' },
  { name: 'mae', label: 'MAE', better: 'lower' },
] as const;

export const excludesZero = (interval: Interval): boolean =>
  interval.status === 'ok' && (interval.low > 0 || interval.high < 0);

/** Paired differences on the same pictures, one row per pair and split. */
export function comparisonTable({ comparisons, significance = [] }: ReportData): Html {
  if (comparisons.length === 0 && significance.length === 0) return NOTHING;
  const rows = comparisons.map(
    ({ split, baseline, candidate, result }) =>
      html`<tr><th scope="row">${split} <small>${candidate} ${'\u2212'} ${baseline}</small></th>${COLUMNS.map(
        ({ name, better }) => pairedCell(result[name], better),
      )}<td>${result.images}${countNote(result)}</td></tr>`,
  );
  const table =
    rows.length === 0
      ? NOTHING
      : html`<h3>Differences</h3><div class="scroll" tabindex="0" role="region" aria-label="differences"><table class="differences"><thead><tr><th scope="col">split</th>${COLUMNS.map(
          ({ label }) => html`<th scope="col">${label}</th>`,
        )}<th scope="col">pictures</th></tr></thead><tbody>${rows}</tbody></table></div>
<p class="note">Paired, on the pictures scored by both; brackets: percentile bootstrap over pictures. Bold and coloured where the interval leaves out 0.</p>${seedNotes(comparisons)}`;
  return html`${table}${significanceTable(significance)}`;
}

const countNote = ({ dropped, unmatched }: ComparisonReport['result']): Html => {
  const parts = [
    ...(dropped > 0 ? [`${dropped} without a score on a side`] : []),
    ...(unmatched > 0 ? [`${unmatched} on one side only`] : []),
  ];
  return parts.length === 0 ? NOTHING : html` <small>${parts.join(', ')}</small>`;
};

function pairedCell({ difference, interval }: Difference, better: 'higher' | 'lower'): Html {
  if (difference.status !== 'ok') return html`<td>${metricCell(difference)}</td>`;
  const text = signedWithInterval(difference.value, interval);
  if (!excludesZero(interval)) return html`<td>${text}</td>`;
  const tone = difference.value > 0 === (better === 'higher') ? 'better' : 'worse';
  return html`<td class="${tone}"><strong>${text}</strong></td>`;
}

function seedNotes(comparisons: readonly ComparisonReport[]): Html {
  const pooled = comparisons.filter(({ result }) => result.seeds.length > 1);
  if (pooled.length === 0) return NOTHING;
  const text = (metric: Metric) => (metric.status === 'ok' ? metric.value.toFixed(3) : 'none');
  return html`<p class="note">The models' rows are one run; differences are means over seeds. SRCC by seed:${pooled.map(
    ({ split, result }) =>
      html`<br>${split}: ${result.srcc.perSeed.map(({ seed, baseline, candidate }) => `seed ${seed ?? 'none'} ${text(baseline)} → ${text(candidate)}`).join('; ')}`,
  )}</p>`;
}

function significanceTable(rows: readonly SignificanceRow[]): Html {
  if (rows.length === 0) return NOTHING;
  const cells = rows.map(
    ({ split, test, statistic, p, verdict }) =>
      html`<tr><th scope="row">${split} <small>${test}</small></th><td>${statistic}</td><td>${p === undefined ? DASH : probability(p)}</td><td>${verdict}</td></tr>`,
  );
  return html`<h3>Significance</h3><div class="scroll" tabindex="0" role="region" aria-label="significance"><table><thead><tr><th scope="col">test</th><th scope="col">statistic</th><th scope="col">p</th><th scope="col">verdict</th></tr></thead><tbody>${cells}</tbody></table></div>`;
}

/** Three digits; the smallest are told apart from 0 in words of mathematics. */
export const probability = (p: number): string => (p < 0.001 ? '< 0.001' : p.toFixed(3));
