import { chartFigure, type FigureIds, missingFigure } from './charts.ts';
import { densityCells, densityLayer } from './density.ts';
import { type Html, html } from './html.ts';
import { intervalText, metricText, scoredText } from './numbers.ts';
import type { SplitReport } from './report-data.ts';
import { valueRange } from './value-range.ts';

/** Side of a density cell on the score's scale. */
const CELL = 0.1;
/** Single points are drawn up to this many; beyond it they hide each other, and the density says more. */
const MOST_POINTS = 400;

/** MOS against score: density, points where they are few, the identity line and the fitted logistic. */
export async function scatterFigure(
  ids: FigureIds,
  model: string,
  { split, predictions, summary }: SplitReport,
  color: string,
): Promise<Html> {
  const points = predictions.flatMap(({ mos, score }) => (score === null ? [] : [{ x: score, y: mos }]));
  const frame = {
    title: model,
    subtitle: 'MOS against score',
    data: { split, kind: 'scatter', points: points.length },
  };
  if (points.length === 0) return missingFigure(frame, 'no prediction has a score');
  const range = valueRange(points.flatMap(({ x, y }) => [x, y]));
  const axis = (field: 'x' | 'y', title: string) => ({
    field,
    type: 'quantitative' as const,
    title,
    scale: { domain: [range.low, range.high], nice: false },
    axis: { tickCount: range.high - range.low, grid: true },
  });
  const position = { x: axis('x', 'score'), y: axis('y', 'MOS') };
  const cells = densityCells(points, { x: range, y: range, size: CELL });
  const density = densityLayer(cells, color);
  const few = points.length <= MOST_POINTS;
  const curve = logisticCurve(summary.logistic4, range.low, range.high).filter(
    ({ y }) => y >= range.low && y <= range.high,
  );
  const spec = {
    width: 270,
    height: 270,
    layer: [
      { ...density, encoding: { ...position, ...density.encoding } },
      ...(few
        ? [
            {
              data: { values: points },
              mark: { type: 'circle' as const, size: 14, fill: color, opacity: 0.8 },
              encoding: position,
            },
          ]
        : []),
      {
        data: {
          values: [
            { x: range.low, y: range.low },
            { x: range.high, y: range.high },
          ],
        },
        mark: { type: 'line' as const, stroke: 'var(--muted)', strokeDash: [5, 4], strokeWidth: 1.5 },
        encoding: position,
      },
      {
        data: { values: curve },
        mark: { type: 'line' as const, stroke: 'var(--ink)', strokeWidth: 2 },
        encoding: position,
      },
    ],
  };
  const fit =
    summary.logistic4.status === 'ok'
      ? 'curve: 4-parameter logistic'
      : `no curve: ${summary.logistic4.detail}`;
  const most = Math.max(...cells.map(({ count }) => count));
  return chartFigure({
    ...frame,
    id: ids.next('scatter', split, model),
    alt: `MOS against score of ${points.length} pictures, ${split}; ${correlation(summary.srcc)}`,
    spec,
    note: html`${scoredText(summary.scored, summary.n)}, ${correlation(summary.srcc)}; darker: up to ${most} pictures in a cell; dashed: score = MOS; ${fit}`,
  });
}

function correlation({ value, interval }: SplitReport['summary']['srcc']): string {
  if (value.status !== 'ok') return `no SRCC: ${value.detail}`;
  return `SRCC ${metricText(value)} ${intervalText(interval)}`.trimEnd();
}

function logisticCurve(fit: SplitReport['summary']['logistic4'], from: number, to: number) {
  if (fit.status !== 'ok') return [];
  const [b1, b2, b3, b4] = fit.parameters as [number, number, number, number];
  return Array.from({ length: 61 }, (_, i) => {
    const x = from + ((to - from) * i) / 60;
    return {
      x: Number(x.toFixed(4)),
      y: Number(((b1 - b2) / (1 + Math.exp(-(x - b3) / b4)) + b2).toFixed(4)),
    };
  });
}
