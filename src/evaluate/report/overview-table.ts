import { type Html, html, NOTHING } from './html.ts';
import { DASH, metricCell } from './numbers.ts';
import type { ReportData } from './report-data.ts';
import { isBest, splitsOf, summaryOf, weightedMean } from './results-table.ts';
import { SERIES_COLORS } from './theme.ts';

/** With more splits than this the detailed table no longer shows at a glance which model is ahead. */
const MOST_SPLITS = 4;

/** Models by data sets, SRCC over PLCC, as papers print it; for suites with the mean over data sets. */
export function overviewTable(data: ReportData): Html {
  const splits = splitsOf(data);
  const mean = data.weightedMean === true && splits.length > 1;
  if (!mean && splits.length <= MOST_SPLITS) return NOTHING;
  const rows = data.models.map(({ name }, i) => {
    const cells = splits.map((split) => {
      const summary = summaryOf(data, name, split);
      if (summary === undefined) return html`<td>${DASH}</td>`;
      const shown = metricCell(summary.srcc.value);
      const best = isBest(data, split, name, { name: 'srcc', best: 'highest' });
      return html`<td>${best ? html`<strong>${shown}</strong>` : shown} <small>${metricCell(summary.plcc.value)}</small></td>`;
    });
    return html`<tr><th scope="row"><i class="swatch" style="--swatch: ${SERIES_COLORS[i % 8]!}"></i>${name}</th>${cells}${mean ? meanCell(data, name) : NOTHING}</tr>`;
  });
  return html`<div class="scroll" tabindex="0" role="region" aria-label="overview"><table class="overview"><thead><tr><th scope="col">SRCC <small>PLCC</small></th>${splits.map(
    (split) => html`<th scope="col">${split}</th>`,
  )}${mean ? html`<th scope="col">mean</th>` : NOTHING}</tr></thead><tbody>${rows}${quotedRows(data, mean)}</tbody></table></div>
${mean ? html`<p class="note">Mean: weighted by pictures with a score; only where a model has a value on every data set.</p>` : NOTHING}`;
}

function meanCell(data: ReportData, model: string): Html {
  const summaries = splitsOf(data).map((split) => summaryOf(data, model, split));
  const text = (metric: 'srcc' | 'plcc') => weightedMean(summaries, metric)?.toFixed(3) ?? DASH;
  return html`<td>${text('srcc')} <small>${text('plcc')}</small></td>`;
}

/** One row per source of published figures. */
function quotedRows(data: ReportData, mean: boolean): Html[] {
  const quoted = data.quoted ?? [];
  const text = (value: number | undefined) => value?.toFixed(3) ?? DASH;
  return [...new Set(quoted.map(({ model, source }) => `${model}\n${source}`))].map((key) => {
    const own = quoted.filter(({ model, source }) => `${model}\n${source}` === key);
    const cells = splitsOf(data).map((split) => {
      const one = own.find((figure) => figure.split === split);
      return html`<td>${text(one?.srcc)} <small>${text(one?.plcc)}</small></td>`;
    });
    return html`<tr class="quoted"><th scope="row">${own[0]!.model} <small>quoted: ${own[0]!.source}</small></th>${cells}${mean ? html`<td>${DASH}</td>` : NOTHING}</tr>`;
  });
}
