import { chartFigure, type FigureIds, missingFigure, type renderChart } from './charts.ts';
import { type Html, html, NOTHING } from './html.ts';
import { PANEL_IDS, PANELS, type PanelId, panelOf } from './panels.ts';
import type { MetricRow, ReportData, StageReport } from './report-data.ts';
import { rolloutSection } from './rollouts.ts';
import { type EventMark, eventList, eventMarks, markLayers } from './run-events.ts';
import { SERIES_COLORS } from './theme.ts';

interface Point {
  step: number;
  value: number;
}

export interface Series {
  name: string;
  points: Point[];
  /** Values that were logged but not finite: gaps, not zeros. */
  notFinite: number;
}

/** The series of a stage by panel; those no panel claims come last, under "other". */
export function seriesByPanel(rows: readonly MetricRow[]): Map<PanelId | 'other', Series[]> {
  const all = new Map<string, Series>();
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) {
      if (name === 'step') continue;
      const series = all.get(name) ?? { name, points: [], notFinite: 0 };
      all.set(name, series);
      if (typeof value === 'number' && Number.isFinite(value)) series.points.push({ step: row.step, value });
      else series.notFinite++;
    }
  }
  const panels = new Map<PanelId | 'other', Series[]>();
  for (const series of all.values()) {
    const id = panelOf(series.name) ?? 'other';
    panels.set(id, [...(panels.get(id) ?? []), series]);
  }
  return panels;
}

/** All curves of a stage: the expected panels in their order, then further ones, then the rest folded away. */
export async function stageSection(
  ids: FigureIds,
  stage: StageReport,
  picture: ReportData['rolloutPicture'],
): Promise<Html> {
  const panels = seriesByPanel(stage.rows);
  const events = stage.events ?? [];
  const figure = (title: string, axis: string, series: readonly Series[]): Promise<Html> =>
    panelFigure(
      ids,
      stage.name,
      title,
      axis,
      series,
      eventMarks(
        events,
        series.map(({ name }) => name),
      ),
    );
  const shown = [
    ...stage.expects,
    ...PANEL_IDS.filter((id) => !stage.expects.includes(id) && panels.has(id)),
  ];
  const figures: Html[] = [];
  for (const id of shown) figures.push(await figure(PANELS[id].title, PANELS[id].axis, panels.get(id) ?? []));
  const others: Html[] = [];
  for (const series of panels.get('other') ?? []) others.push(await figure(series.name, '', [series]));
  const last = stage.rows.at(-1)?.step;
  return html`<section class="stage"><h3>${stage.name}</h3>
<p class="note">${last === undefined ? 'No step was logged.' : `${stage.rows.length} logged rows, last step ${last}.`}</p>
${eventList(events)}<div class="charts">${figures}</div>
${others.length === 0 ? NOTHING : html`<details><summary>${others.length} further series</summary><div class="charts">${others}</div></details>`}
${await rolloutSection(stage, picture)}</section>`;
}

async function panelFigure(
  ids: FigureIds,
  stage: string,
  title: string,
  axis: string,
  series: readonly Series[],
  marks: readonly EventMark[],
): Promise<Html> {
  const drawn = series.filter((one) => one.points.length > 0);
  const empty = series.filter((one) => one.points.length === 0).map((one) => one.name);
  if (drawn.length === 0) {
    const why =
      empty.length === 0 ? 'not logged in this run' : `logged without a finite value: ${empty.join(', ')}`;
    return missingFigure({ title, data: { panel: title } }, why);
  }
  const points = drawn.reduce((sum, one) => sum + one.points.length, 0);
  const gaps = series.reduce((sum, one) => sum + one.notFinite, 0);
  const smoothed = Math.max(...drawn.map((one) => smoothingWindow(one.points.length)));
  const notes = [
    ...(smoothed > 1 ? [`bold: mean of ${smoothed} rows`] : []),
    ...(gaps > 0 ? [`${gaps} value(s) not finite, left out`] : []),
    ...(empty.length > 0 && gaps === 0 ? [`missing: ${empty.join(', ')}`] : []),
  ];
  const names = drawn.map(({ name }) => name);
  return chartFigure({
    id: ids.next('curve', stage, title),
    title,
    alt: [...drawn.map(describe), ...marks.map(({ step, label }) => `event ${label} at step ${step}`)].join(
      '; ',
    ),
    data: { panel: title, points, ...(marks.length === 0 ? {} : { marks: marks.length }) },
    spec: curveSpec(axis, drawn, marks),
    ...(title === names[0] ? {} : { legend: names.map((name, i) => ({ name, color: colorOf(i) })) }),
    ...(notes.length === 0 ? {} : { note: notes.join('; ') }),
  });
}

const describe = ({ name, points }: Series): string => {
  const [first, last] = [points[0]!, points.at(-1)!];
  return `${name} from ${short(first.value)} at step ${first.step} to ${short(last.value)} at step ${last.step}`;
};

const short = (value: number): string => String(Number(value.toPrecision(4)));

// The first colour is a grey for baselines; curves start at the accent.
const colorOf = (i: number): string => SERIES_COLORS[(i + 1) % SERIES_COLORS.length]!;

const smoothingWindow = (n: number): number => (n < 40 ? 1 : 2 * Math.round(n / 50) + 1);

/** Mean over up to `window` neighbours; the window shrinks at both ends. */
export function centredMean(points: readonly Point[], window: number): Point[] {
  const half = (window - 1) / 2;
  return points.map(({ step }, i) => {
    const reach = Math.min(half, i, points.length - 1 - i);
    const near = points.slice(i - reach, i + reach + 1);
    return { step, value: near.reduce((sum, point) => sum + point.value, 0) / near.length };
  });
}

/** Six digits: more are not seen, and the page carries each of them. */
const compact = (value: number): number => Number(value.toPrecision(6));

/** Pixels; enough for 0.00002. */
const LABEL_WIDTH = 46;

function curveSpec(
  axis: string,
  drawn: readonly Series[],
  marks: readonly EventMark[],
): Parameters<typeof renderChart>[0] {
  const names = drawn.map((one) => one.name);
  const rows = drawn.flatMap(({ name, points }) => {
    const window = smoothingWindow(points.length);
    return [
      ...points.map(({ step, value }) => ({ step, value: compact(value), name, raw: window > 1 })),
      ...(window > 1
        ? centredMean(points, window).map(({ step, value }) => ({
            step,
            value: compact(value),
            name,
            raw: false,
          }))
        : []),
    ];
  });
  const single = drawn.every((one) => one.points.length === 1);
  const encoding = {
    x: {
      field: 'step',
      type: 'quantitative' as const,
      title: 'step',
      axis: { grid: false, tickCount: 5 },
      scale: { nice: false },
    },
    y: {
      field: 'value',
      type: 'quantitative' as const,
      title: axis === '' ? null : axis,
      // Labels of one width: charts scale to their column, so unequal widths would be unequal heights.
      axis: { tickCount: 5, minExtent: LABEL_WIDTH, maxExtent: LABEL_WIDTH },
      scale: { zero: false },
    },
    color: {
      field: 'name',
      type: 'nominal' as const,
      sort: names,
      scale: { domain: names, range: names.map((_, i) => colorOf(i)) },
      legend: null,
    },
  };
  return {
    width: 280,
    height: 170,
    data: { values: rows },
    layer: [
      {
        transform: [{ filter: 'datum.raw' }],
        mark: { type: 'line', strokeWidth: 1, opacity: 0.3 },
        encoding,
      },
      {
        transform: [{ filter: '!datum.raw' }],
        mark: single ? { type: 'point', filled: true, size: 40 } : { type: 'line', strokeWidth: 2 },
        encoding,
      },
      ...markLayers(marks),
    ],
  };
}
