import { chartFigure, type FigureIds, missingFigure } from './charts.ts';
import type { Html } from './html.ts';
import type { ModelReport } from './report-data.ts';
import { SERIES_COLORS } from './theme.ts';
import { valueRange } from './value-range.ts';

const BIN = 0.2;

/** Shares of the values in bins from `low` to `high`; a value on the upper end belongs to the last bin. */
export function binShares(values: readonly number[], low: number, high: number): number[] {
  const bins = Math.round((high - low) / BIN);
  const counts = new Array<number>(bins).fill(0);
  for (const value of values) counts[Math.min(bins - 1, Math.floor((value - low) / BIN + 1e-9))]!++;
  return counts.map((count) => count / values.length);
}

/** How often each model gives which score, over how often the raters do. */
export async function histogramFigure(
  ids: FigureIds,
  split: string,
  models: readonly ModelReport[],
): Promise<Html> {
  const reports = models.flatMap(({ name, splits }, i) => {
    const report = splits.find((one) => one.split === split);
    const scores = report?.predictions.flatMap(({ score }) => (score === null ? [] : [score])) ?? [];
    return scores.length === 0 ? [] : [{ name, scores, color: SERIES_COLORS[i % 8]!, report: report! }];
  });
  const frame = { title: 'Distribution of scores', data: { split, kind: 'histogram' } };
  const first = reports[0];
  if (first === undefined) return missingFigure(frame, 'no prediction has a score');
  const opinions = first.report.predictions.map(({ mos }) => mos);
  const { low, high } = valueRange([...opinions, ...reports.flatMap(({ scores }) => scores)]);
  const steps = (name: string, values: readonly number[]) => {
    const shares = binShares(values, low, high).map((share) => Number(share.toFixed(5)));
    // The last bin needs an end of its own: a step is drawn from each value to the next.
    return [...shares, shares.at(-1)!].map((share, i) => ({
      name,
      x: Number((low + i * BIN).toFixed(4)),
      share,
    }));
  };
  const encoding = {
    x: {
      field: 'x',
      type: 'quantitative' as const,
      title: 'score',
      scale: { domain: [low, high], nice: false },
      axis: { tickCount: high - low, grid: false },
    },
    y: {
      field: 'share',
      type: 'quantitative' as const,
      title: 'share of pictures',
      axis: { tickCount: 4, format: '.0%' },
    },
  };
  return chartFigure({
    ...frame,
    id: ids.next('histogram', split),
    alt: `share of pictures by score in steps of ${BIN}, ${split}, for the MOS and ${reports.map(({ name }) => name).join(', ')}`,
    legend: reports.map(({ name, color }) => ({ name, color })),
    spec: {
      width: 270,
      height: 190,
      layer: [
        {
          data: { values: steps('MOS', opinions) },
          mark: { type: 'area', interpolate: 'step-after', fill: 'var(--edge)', opacity: 0.35 },
          encoding,
        },
        {
          data: { values: reports.flatMap(({ name, scores }) => steps(name, scores)) },
          mark: { type: 'line', interpolate: 'step-after', strokeWidth: 1.75 },
          encoding: {
            ...encoding,
            color: {
              field: 'name',
              type: 'nominal',
              scale: { domain: reports.map(({ name }) => name), range: reports.map(({ color }) => color) },
              legend: null,
            },
          },
        },
      ],
    },
    note: `steps of ${BIN}; filled: MOS`,
  });
}
