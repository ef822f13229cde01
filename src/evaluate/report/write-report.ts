import { writeFileAtomic } from '../../core/index.ts';
import type { Interval } from '../../metrics/index.ts';
import type { Summary } from '../summarize.ts';
import { behaviourTable, distortionTables } from './behaviour-table.ts';
import { SERIES_COLORS } from './charts.ts';
import { stageSection } from './curves.ts';
import { gallerySections } from './gallery.ts';
import { type Html, html, NOTHING } from './html.ts';
import { intervalText, metricText, scoredText, signed } from './numbers.ts';
import { mediaType } from './pictures.ts';
import type { ReportData } from './report-data.ts';
import { excludesZero, resultsTable, splitsOf, summaryOf } from './results-table.ts';
import { scatterFigure } from './scatter.ts';
import { STYLE } from './style.ts';

/** Writes one self-contained HTML file: no scripts, no requests, readable in light and dark, printable. */
export async function writeReport(path: string, data: ReportData): Promise<void> {
  await writeFileAtomic(path, await renderReport(data));
}

export async function renderReport(data: ReportData): Promise<string> {
  const sections: { id: string; title: string; body: Html }[] = [
    { id: 'results', title: 'Results', body: resultsTable(data) },
    { id: 'scatter', title: 'Scores against opinion', body: await scatterSection(data) },
    {
      id: 'behaviour',
      title: 'Format, consistency, distortions named',
      body: html`${behaviourTable(data)}${distortionTables(data)}`,
    },
    { id: 'training', title: 'Training', body: await trainingSection(data) },
    { id: 'gallery', title: 'Best and worst predictions', body: html`${await gallerySections(data)}` },
    { id: 'data', title: 'Data', body: contactSheet(data.contactSheet) },
    { id: 'provenance', title: 'Provenance', body: provenanceTable(data) },
  ];
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${data.title}</title><style>${STYLE}</style></head>
<body><header><h1>${data.title}</h1>
${data.subtitle === undefined ? NOTHING : html`<p class="lead">${data.subtitle}</p>`}
<p class="note"><time datetime="${data.createdAt}">${data.createdAt}</time></p>
<nav>${sections.map(({ id, title }) => html`<a href="#${id}">${title}</a>`)}</nav>
${headlines(data)}</header>
<main>${sections.map(({ id, title, body }) => html`<section id="${id}"><h2>${title}</h2>${body}</section>\n`)}</main>
</body></html>
`.markup;
}

/** The last model's SRCC per split, with the paired difference to its baseline where there is one. */
function headlines(data: ReportData): Html {
  const model = data.models.at(-1);
  if (model === undefined) return NOTHING;
  const cards = splitsOf(data).flatMap((split) => {
    const summary = summaryOf(data, model.name, split);
    if (summary === undefined) return [];
    const comparison = data.comparisons.find((one) => one.split === split && one.candidate === model.name);
    return [
      html`<div class="headline"><div class="what">${model.name}, ${split}: SRCC</div>
${headlineValue(summary)}
${comparison === undefined ? NOTHING : headlineDifference(comparison.baseline, comparison.result.srcc)}</div>`,
    ];
  });
  return html`<div class="headlines">${cards}</div>`;
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

async function scatterSection(data: ReportData): Promise<Html> {
  const figures: Html[] = [];
  for (const split of splitsOf(data)) {
    for (const [i, model] of data.models.entries()) {
      const report = model.splits.find((one) => one.split === split);
      if (report !== undefined) figures.push(await scatterFigure(model.name, report, SERIES_COLORS[i % 8]!));
    }
  }
  return figures.length === 0
    ? html`<p>missing: no predictions</p>`
    : html`<div class="scatters">${figures}</div>`;
}

async function trainingSection(data: ReportData): Promise<Html> {
  const stages: Html[] = [];
  for (const stage of data.stages) stages.push(await stageSection(stage));
  return stages.length === 0 ? html`<p>missing: no training stage was given</p>` : html`${stages}`;
}

function contactSheet(bytes: Uint8Array | undefined): Html {
  const type = bytes === undefined ? undefined : mediaType(bytes);
  if (bytes === undefined || type === undefined) return html`<p>missing: no contact sheet</p>`;
  const uri = `data:${type};base64,${Buffer.from(bytes).toString('base64')}`;
  return html`<img class="sheet" alt="contact sheet of the data set" src="${uri}">`;
}

function provenanceTable(data: ReportData): Html {
  if (data.provenance.length === 0) return html`<p>missing: no provenance was given</p>`;
  const rows = data.provenance.map(
    ({ label, value }) => html`<tr><th scope="row">${label}</th><td>${value}</td></tr>`,
  );
  return html`<div class="scroll"><table class="provenance"><tbody>${rows}</tbody></table></div>`;
}
