import type { FigureIds } from './charts.ts';
import { distortionFigures } from './distortion-bars.ts';
import { histogramFigure } from './histograms.ts';
import { type Html, html, NOTHING } from './html.ts';
import { reliabilityFigure } from './reliability.ts';
import type { ReportData, SplitReport } from './report-data.ts';
import { residualFigure } from './residuals.ts';
import { splitsOf } from './results-table.ts';
import { scatterFigure } from './scatter.ts';
import { SERIES_COLORS } from './theme.ts';

/** The figures of every split, one split at a time: without scripts all of them, one below the other. */
export async function splitFigures(ids: FigureIds, data: ReportData): Promise<Html> {
  const splits = splitsOf(data);
  const panels: Html[] = [];
  for (const [i, split] of splits.entries()) {
    const single = splits.length === 1;
    panels.push(
      html`<div class="panel"${single ? NOTHING : html` id="${`split-${i}`}" role="tabpanel" aria-labelledby="${`tab-${i}`}"`}>${single ? NOTHING : html`<h3>${split}</h3>`}${await figuresOf(ids, split, data)}</div>`,
    );
  }
  if (splits.length === 1) return html`${panels}`;
  const tabs = splits.map(
    (split, i) =>
      html`<button type="button" role="tab" id="${`tab-${i}`}" aria-controls="${`split-${i}`}">${split}</button>`,
  );
  return html`<div class="tabs" role="tablist" aria-label="splits">${tabs}</div>${panels}`;
}

async function figuresOf(ids: FigureIds, split: string, data: ReportData): Promise<Html> {
  const reports = data.models.flatMap(({ name, splits }, i) => {
    const report = splits.find((one) => one.split === split);
    return report === undefined ? [] : [{ name, report, color: SERIES_COLORS[i % 8]! }];
  });
  const each = async (draw: (name: string, report: SplitReport, color: string) => Promise<Html>) => {
    const figures: Html[] = [];
    for (const { name, report, color } of reports) figures.push(await draw(name, report, color));
    return figures;
  };
  const ofModels = [
    await each((name, report, color) => scatterFigure(ids, name, report, color)),
    await each((name, report, color) => residualFigure(ids, name, report, color)),
    await each((name, report) => reliabilityFigure(ids, name, report)),
  ];
  const ofAll = [
    await histogramFigure(ids, split, data.models),
    ...(await distortionFigures(ids, split, data.models)),
  ];
  // Three to a row: two models leave room for a figure about both.
  const rows =
    reports.length === 2
      ? ofModels.map((row, i) => [...row, ...ofAll.slice(i, i + 1)])
      : reports.length === 1
        ? [ofModels.flat(), ofAll]
        : [...ofModels, ofAll];
  return html`${rows.map((row) => html`<div class="charts">${row}</div>`)}`;
}
