import { chartFigure, type FigureIds, missingFigure } from './charts.ts';
import { densityCells, densityLayer } from './density.ts';
import { type Html, html } from './html.ts';
import { signed } from './numbers.ts';
import type { SplitReport } from './report-data.ts';
import { meanAndStd, valueRange } from './value-range.ts';

const CELL = 0.1;
const BAND = 0.5;

export interface ResidualBand {
  /** Middle of the band of MOS. */
  x: number;
  n: number;
  mean: number;
  low: number;
  high: number;
}

/** Mean residual, and one standard deviation either way, in bands of MOS half a point wide. */
export function residualBands(points: readonly { x: number; y: number }[], from: number): ResidualBand[] {
  const bands = new Map<number, number[]>();
  for (const { x, y } of points) {
    const band = Math.floor((x - from) / BAND + 1e-9);
    bands.set(band, [...(bands.get(band) ?? []), y]);
  }
  return [...bands]
    .sort(([a], [b]) => a - b)
    .map(([band, values]) => {
      const { mean, std } = meanAndStd(values);
      return { x: from + (band + 0.5) * BAND, n: values.length, mean, low: mean - std, high: mean + std };
    });
}

/** Score minus MOS against MOS: where a model is too kind, too harsh, or shies away from the ends. */
export async function residualFigure(
  ids: FigureIds,
  model: string,
  { split, predictions }: SplitReport,
  color: string,
): Promise<Html> {
  const points = predictions.flatMap(({ mos, score }) =>
    score === null ? [] : [{ x: mos, y: score - mos }],
  );
  const frame = {
    title: model,
    subtitle: 'residuals',
    data: { split, kind: 'residuals', points: points.length },
  };
  if (points.length === 0) return missingFigure(frame, 'no prediction has a score');
  const x = valueRange(points.map((point) => point.x));
  const reach = Math.ceil(points.reduce((most, point) => Math.max(most, Math.abs(point.y)), 1));
  const y = { low: -reach, high: reach };
  const cells = densityCells(points, { x, y, size: CELL });
  const density = densityLayer(cells, color);
  const bands = residualBands(points, x.low);
  const axisX = {
    field: 'x',
    type: 'quantitative' as const,
    title: 'MOS',
    scale: { domain: [x.low, x.high], nice: false },
    axis: { tickCount: x.high - x.low, grid: false },
  };
  const axisY = (field: string) => ({
    field,
    type: 'quantitative' as const,
    title: 'score \u2212 MOS',
    scale: { domain: [y.low, y.high], nice: false },
    axis: { tickCount: 2 * reach },
  });
  const { mean, std } = meanAndStd(points.map((point) => point.y));
  return chartFigure({
    ...frame,
    id: ids.next('residuals', split, model),
    alt: `score minus MOS against MOS, ${split}; mean ${signed(mean, 2)}, standard deviation ${std.toFixed(2)}`,
    spec: {
      width: 270,
      height: 190,
      layer: [
        { ...density, encoding: { x: axisX, y: axisY('y'), ...density.encoding } },
        {
          data: { values: [{ y: 0 }] },
          mark: { type: 'rule', stroke: 'var(--muted)', strokeDash: [5, 4], strokeWidth: 1.5 },
          encoding: { y: axisY('y') },
        },
        {
          data: { values: bands },
          mark: { type: 'rule', stroke: 'var(--ink)', strokeWidth: 1.5 },
          encoding: { x: axisX, y: axisY('low'), y2: { field: 'high' } },
        },
        {
          data: { values: bands },
          mark: { type: 'point', filled: true, size: 45, fill: 'var(--ink)', opacity: 1 },
          encoding: { x: axisX, y: axisY('mean') },
        },
      ],
    },
    note: html`mean ${signed(mean, 2)}, standard deviation ${std.toFixed(2)}; dots and bars: mean and one standard deviation per half point of MOS`,
  });
}
