import { createHash } from 'node:crypto';
import { type Progress, silentProgress, writeFileAtomic } from '../../core/index.ts';
import { behaviourTable, distortionTables } from './behaviour-table.ts';
import { FigureIds } from './charts.ts';
import { comparisonTable } from './comparison-table.ts';
import { provenanceSection } from './configuration.ts';
import { stageSection } from './curves.ts';
import { gallerySection } from './gallery.ts';
import { galleryRows, withThumbnails } from './gallery-data.ts';
import { headlines } from './headline.ts';
import { Html, html, NOTHING } from './html.ts';
import { overviewTable } from './overview-table.ts';
import { PAGE_SCRIPT } from './page-script.ts';
import type { ReportData } from './report-data.ts';
import { resultsTable } from './results-table.ts';
import { splitFigures } from './split-figures.ts';
import { STYLE } from './style.ts';
import { pictureKey, sheetUri, thumbnailsOf } from './thumbnails.ts';

export interface ReportFile {
  path: string;
  bytes: number;
  /** Answers in the gallery, and those beyond its size. */
  shown: number;
  leftOut: number;
}

/**
 * Writes one self-contained HTML file: pictures, curves and their Vega-Lite specifications inside, no requests,
 * readable in light and dark, usable by keyboard. Only its own script may run in it.
 */
export async function writeReport(
  path: string,
  data: ReportData,
  progress: Progress = silentProgress,
): Promise<ReportFile> {
  const { page, shown, leftOut } = await buildPage(data, progress);
  await writeFileAtomic(path, page);
  return { path, bytes: Buffer.byteLength(page), shown, leftOut };
}

export const renderReport = async (data: ReportData): Promise<string> =>
  (await buildPage(data, silentProgress)).page;

interface Section {
  id: string;
  title: string;
  body: Html;
}

async function buildPage(data: ReportData, progress: Progress) {
  const ids = new FigureIds();
  const rows = galleryRows(data);
  const thumbnails = await thumbnailsOf(picturesOf(data, rows), data.picture, progress);
  const sections: Section[] = [
    ...(data.models.length === 0
      ? [{ id: 'results', title: 'Results', body: html`<p>missing: no predictions</p>` }]
      : await resultSections(ids, data)),
    ...(await trainingSections(ids, data)),
    ...(data.models.length === 0
      ? []
      : [{ id: 'gallery', title: 'Predictions', body: gallerySection(withThumbnails(rows, thumbnails)) }]),
    ...(await dataSections(data)),
    { id: 'provenance', title: 'Configuration and provenance', body: provenanceSection(data) },
  ];
  return { page: wholePage(data, sections), shown: rows.rows.length, leftOut: rows.leftOut };
}

async function resultSections(ids: FigureIds, data: ReportData): Promise<Section[]> {
  return [
    {
      id: 'results',
      title: 'Results',
      body: html`${overviewTable(data)}${resultsTable(data)}${comparisonTable(data)}`,
    },
    { id: 'figures', title: 'Scores against opinion', body: await splitFigures(ids, data) },
    {
      id: 'behaviour',
      title: 'Format, consistency, distortions named',
      body: html`${behaviourTable(data)}${distortionTables(data)}`,
    },
  ];
}

/** One prediction per picture that the gallery shows. */
function picturesOf({ models }: ReportData, { rows }: ReturnType<typeof galleryRows>) {
  const wanted = new Set(rows.map(({ key }) => key));
  return models.flatMap(({ splits }) =>
    splits.flatMap(({ predictions }) => predictions.filter((one) => wanted.has(pictureKey(one)))),
  );
}

async function trainingSections(ids: FigureIds, data: ReportData): Promise<Section[]> {
  if (data.stages.length === 0) return [];
  const stages: Html[] = [];
  for (const stage of data.stages) stages.push(await stageSection(ids, stage, data.rolloutPicture));
  return [{ id: 'training', title: 'Training', body: html`${stages}` }];
}

async function dataSections({ contactSheet }: ReportData): Promise<Section[]> {
  if (contactSheet === undefined) return [];
  const uri = await sheetUri(contactSheet);
  const body =
    uri === undefined
      ? html`<p>missing: the contact sheet cannot be read</p>`
      : html`<img class="sheet" loading="lazy" decoding="async" alt="contact sheet of the data set" src="${uri}">`;
  return [{ id: 'data', title: 'Data', body }];
}

const hashOf = (script: string): string => createHash('sha256').update(script).digest('base64');

function wholePage(data: ReportData, sections: readonly Section[]): string {
  const policy = `default-src 'none'; script-src 'sha256-${hashOf(PAGE_SCRIPT)}'; style-src 'unsafe-inline'; img-src data:`;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Html(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${data.title}</title><style>${STYLE}</style></head>
<body><a class="skip" href="#results">To the results</a>
<header><div class="top"><h1>${data.title}</h1><button type="button" id="theme" aria-label="switch between light and dark"></button></div>
${data.subtitle === undefined ? NOTHING : html`<p class="lead">${data.subtitle}</p>`}
<p class="note"><time datetime="${data.createdAt}">${readableTime(data.createdAt)}</time></p>
${(data.warnings ?? []).map((text) => html`<p class="warning">${text}</p>`)}
${headlines(data)}</header>
<nav aria-label="sections">${sections.map(({ id, title }) => html`<a href="#${id}">${title}</a>`)}</nav>
<main>${sections.map(({ id, title, body }) => html`<section id="${id}"><h2>${title}</h2>${body}</section>\n`)}</main>
<script>${new Html(PAGE_SCRIPT)}</script>
</body></html>
`.markup;
}

/** "2026-01-02 03:04 UTC" of an ISO 8601 time; other texts stay as they are. */
const readableTime = (time: string): string =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d.*Z$/.test(time) ? `${time.slice(0, 10)} ${time.slice(11, 16)} UTC` : time;
