import type { Summary } from '../summarize.ts';
import { type Html, html } from './html.ts';
import { DASH, metricCell, shareCell } from './numbers.ts';
import type { ReportData } from './report-data.ts';
import { splitsOf, summaryOf } from './results-table.ts';

const ROWS: readonly { label: string; explanation: string; cell: (summary: Summary) => Html }[] = [
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

/** Format, consistency and distortion naming of each model on each split. */
export function behaviourTable(data: ReportData): Html {
  const columns = splitsOf(data).flatMap((split) =>
    data.models.map(({ name }) => ({ split, name, summary: summaryOf(data, name, split) })),
  );
  const rows = ROWS.map(
    ({ label, explanation, cell }) =>
      html`<tr><th scope="row">${label} <small>${explanation}</small></th>${columns.map(
        ({ summary }) => html`<td>${summary === undefined ? DASH : cell(summary)}</td>`,
      )}</tr>`,
  );
  return html`<div class="scroll"><table><thead>
<tr><td></td>${splitsOf(data).map((split) => html`<th scope="colgroup" colspan="${data.models.length}">${split}</th>`)}</tr>
<tr><th scope="col">measure</th>${columns.map(({ name }) => html`<th scope="col">${name}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>
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
      html`<details><summary>${split}: ${types.length} distortions</summary><div class="scroll"><table><thead>
<tr><th rowspan="2" scope="col">distortion</th>${data.models.map(({ name }) => html`<th colspan="3" scope="colgroup">${name}</th>`)}</tr>
<tr>${data.models.map(() => html`<th scope="col">SRCC</th><th scope="col">score ${'\u2212'} MOS</th><th scope="col">first named</th>`)}</tr>
</thead><tbody>${rows}</tbody></table></div></details>`,
    ];
  });
}
