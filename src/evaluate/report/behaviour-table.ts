import type { Summary } from '../summarize.ts';
import { type Html, html } from './html.ts';
import { DASH, metricCell, shareCell } from './numbers.ts';
import type { ReportData } from './report-data.ts';
import { splitsOf, summaryOf } from './results-table.ts';

const COLUMNS: readonly { label: string; explanation: string; cell: (summary: Summary) => Html }[] = [
  {
    label: 'well-formed',
    explanation: 'the whole answer matches the output contract',
    cell: (s) => shareCell(s.format),
  },
  { label: 'cut', explanation: 'ended by the length limit', cell: (s) => shareCell(s.truncated) },
  { label: 'no score', explanation: 'no score could be read', cell: (s) => shareCell(s.failures.missing) },
  {
    label: 'SRCC, harsh',
    explanation: 'a missing score read as the far end of the scale',
    cell: (s) => metricCell(s.failures.srccWorst),
  },
  {
    label: 'level = score',
    explanation: 'the level the reasoning states is that of the score',
    cell: (s) => shareCell(s.consistency.agreeing),
  },
  {
    label: 'score std',
    explanation: 'standard deviation of the scores',
    cell: (s) => metricCell(s.consistency.scoreStd),
  },
  {
    label: 'first named',
    explanation: 'the first distortion named is a true one; for unseen types, its nearest trained relative',
    cell: (s) => shareCell(s.naming.firstNamed),
  },
  {
    label: 'naming F1',
    explanation: 'of distortion types, micro average',
    cell: (s) => metricCell(s.naming.f1),
  },
  {
    label: 'severity within 1',
    explanation: 'of five steps, where the type is right',
    cell: (s) => shareCell(s.naming.severityWithinOne),
  },
  {
    label: 'false alarm',
    explanation: 'a distortion is claimed of a pristine picture',
    cell: (s) => shareCell(s.naming.falseAlarms),
  },
];

/** Format, consistency and distortion naming: one block of rows per split, one row per model. */
export function behaviourTable(data: ReportData): Html {
  const blocks = splitsOf(data).map((split) => {
    const rows = data.models.flatMap(({ name }) => {
      const summary = summaryOf(data, name, split);
      return summary === undefined
        ? []
        : [
            html`<tr><th scope="row">${name}</th>${COLUMNS.map(({ cell }) => html`<td>${cell(summary)}</td>`)}</tr>`,
          ];
    });
    return html`<tbody><tr class="split"><th colspan="${COLUMNS.length + 1}" scope="rowgroup">${split}</th></tr>${rows}</tbody>`;
  });
  return html`<div class="scroll" tabindex="0" role="region" aria-label="format, consistency, distortions"><table class="behaviour"><thead>
<tr><th scope="col">model</th>${COLUMNS.map(({ label }) => html`<th scope="col">${label}</th>`)}</tr></thead>${blocks}</table></div>
<details><summary>What the columns mean</summary><dl>${COLUMNS.map(({ label, explanation }) => html`<dt>${label}</dt><dd>${explanation}</dd>`)}</dl></details>
<p class="note">Consistency is read beside the spread of the scores: a model that always gives one answer agrees with itself.</p>`;
}

/** SRCC, bias and first-named accuracy by the main true distortion, all models side by side. */
export function distortionTables(data: ReportData): Html[] {
  return splitsOf(data).flatMap((split) => {
    const summaries = data.models.map(({ name }) => ({ name, summary: summaryOf(data, name, split) }));
    const types = [
      ...new Set(summaries.flatMap(({ summary }) => summary?.byDistortion.map((row) => row.type) ?? [])),
    ];
    if (types.length === 0) return [];
    const rows = types.map((type) => {
      const cells = summaries.map(({ summary }) => {
        const row = summary?.byDistortion.find((one) => one.type === type);
        return row === undefined
          ? html`<td>${DASH}</td><td>${DASH}</td><td>${DASH}</td>`
          : html`<td>${metricCell(row.srcc, 2)}</td><td>${metricCell(row.bias, 2)}</td><td>${shareCell(row.firstNamed)}</td>`;
      });
      const n = summaries.map(({ summary }) => summary?.byDistortion.find((one) => one.type === type)?.n);
      return html`<tr><th scope="row">${type} <small>n = ${n.find((count) => count !== undefined) ?? 0}</small></th>${cells}</tr>`;
    });
    return [
      html`<details><summary>${split}: ${types.length} distortions</summary><div class="scroll" tabindex="0" role="region" aria-label="${`distortions, ${split}`}"><table><thead>
<tr><th rowspan="2" scope="col">distortion</th>${data.models.map(({ name }) => html`<th colspan="3" scope="colgroup">${name}</th>`)}</tr>
<tr>${data.models.map(() => html`<th scope="col">SRCC</th><th scope="col">score ${'\u2212'} MOS</th><th scope="col">first named</th>`)}</tr>
</thead><tbody>${rows}</tbody></table></div></details>`,
    ];
  });
}
