import { fisherInterval, type Metric, srcc } from '../../metrics/index.ts';
import type { Prediction } from '../predictions.ts';
import { chartFigure, type FigureIds, missingFigure } from './charts.ts';
import type { Html } from './html.ts';
import type { ModelReport } from './report-data.ts';
import { SERIES_COLORS } from './theme.ts';
import { meanAndStd } from './value-range.ts';
import { spaced } from './words.ts';

export interface DistortionBar {
  type: string;
  model: string;
  /** Pictures with a score whose main true distortion this is. */
  n: number;
  srcc: Metric;
  /** Mean of score minus MOS; absent without any score. */
  bias?: number;
}

/** One bar per main true distortion; "none" are the pristine pictures. Pictures of unknown truth are left out. */
export function distortionBars(model: string, predictions: readonly Prediction[]): DistortionBar[] {
  const groups = new Map<string, { score: number; mos: number }[]>();
  for (const { distortionsTrue, score, mos } of predictions) {
    if (distortionsTrue === undefined) continue;
    const type = distortionsTrue[0]?.type ?? 'none';
    const group = groups.get(type) ?? [];
    groups.set(type, group);
    if (score !== null) group.push({ score, mos });
  }
  return [...groups].map(([type, group]) => ({
    type,
    model,
    n: group.length,
    srcc: srcc(
      group.map(({ score }) => score),
      group.map(({ mos }) => mos),
    ),
    ...(group.length === 0 ? {} : { bias: meanAndStd(group.map(({ score, mos }) => score - mos)).mean }),
  }));
}

/** SRCC and bias by distortion, all models side by side. Nothing where no truth is known. */
export async function distortionFigures(
  ids: FigureIds,
  split: string,
  models: readonly ModelReport[],
): Promise<Html[]> {
  const bars = models.flatMap(({ name, splits }) =>
    distortionBars(name, splits.find((one) => one.split === split)?.predictions ?? []),
  );
  if (bars.length === 0) return [];
  const names = models.map(({ name }) => name).filter((name) => bars.some(({ model }) => model === name));
  const rank = new Map(
    bars
      .filter(({ model }) => model === names.at(-1))
      .map((bar) => [bar.type, bar.srcc.status === 'ok' ? bar.srcc.value : -2]),
  );
  const types = [...new Set(bars.map(({ type }) => type))].sort(
    (a, b) => (rank.get(b) ?? -2) - (rank.get(a) ?? -2) || (a < b ? -1 : 1),
  );
  const label = (type: string) => (type === 'none' ? 'none (pristine)' : spaced(type));
  const frame = (title: string) => ({ title, data: { split, kind: 'distortions' } });
  const correlations = bars.flatMap((bar) => {
    if (bar.srcc.status !== 'ok') return [];
    const interval = fisherInterval(bar.srcc.value, bar.n, { kind: 'spearman' });
    const whisker = interval.status === 'ok' ? { low: interval.low, high: interval.high } : {};
    return [{ type: label(bar.type), model: bar.model, value: bar.srcc.value, n: bar.n, ...whisker }];
  });
  const biases = bars.flatMap((bar) =>
    bar.bias === undefined ? [] : [{ type: label(bar.type), model: bar.model, value: bar.bias, n: bar.n }],
  );
  const undefinedBars = bars.filter((bar) => bar.srcc.status !== 'ok');
  const legend = names.map((name) => ({ name, color: colorOf(models, name) }));
  const spec = (values: readonly object[], title: string, domain?: [number, number]) => ({
    width: 230,
    height: { step: Math.max(6, (types.length > 6 ? 16 : 28) / names.length) },
    data: { values: [...values] },
    encoding: {
      y: {
        field: 'type',
        type: 'nominal' as const,
        sort: types.map(label),
        title: null,
        axis: { ticks: false, domain: false, labelLimit: 130 },
        scale: { paddingInner: 0.25 },
      },
      yOffset: { field: 'model', sort: names },
    },
    layer: [
      {
        mark: { type: 'bar' as const },
        encoding: {
          x: {
            field: 'value',
            type: 'quantitative' as const,
            title,
            axis: { tickCount: 5 },
            ...(domain === undefined ? {} : { scale: { domain, nice: false } }),
          },
          color: {
            field: 'model',
            type: 'nominal' as const,
            scale: { domain: names, range: names.map((name) => colorOf(models, name)) },
            legend: null,
          },
        },
      },
      {
        transform: [{ filter: 'isValid(datum.low)' }],
        mark: { type: 'rule' as const, stroke: 'var(--ink)', strokeWidth: 1, opacity: 0.65 },
        encoding: { x: { field: 'low', type: 'quantitative' as const }, x2: { field: 'high' } },
      },
    ],
  });
  const lowest = Math.min(0, ...correlations.map(({ value, low }) => low ?? value));
  const about = `${split}, ${types.length} distortions, ${names.join(', ')}`;
  return [
    correlations.length === 0
      ? missingFigure(frame('SRCC by distortion'), 'no distortion has two scored pictures that differ')
      : await chartFigure({
          ...frame('SRCC by distortion'),
          id: ids.next('distortion-srcc', split),
          alt: about,
          legend,
          spec: spec(correlations, 'SRCC', [Math.floor(lowest * 5) / 5, 1]),
          note: `bars: 95 % Fisher interval${
            undefinedBars.length === 0
              ? ''
              : `; no SRCC: ${undefinedBars.map((bar) => `${bar.model}, ${label(bar.type)} (n = ${bar.n})`).join('; ')}`
          }`,
        }),
    biases.length === 0
      ? missingFigure(frame('Bias by distortion'), 'no prediction has a score')
      : await chartFigure({
          ...frame('Bias by distortion'),
          id: ids.next('distortion-bias', split),
          alt: about,
          legend,
          spec: spec(biases, 'mean of score \u2212 MOS'),
          note: 'right of 0: kinder than the raters',
        }),
  ];
}

const colorOf = (models: readonly ModelReport[], name: string): string =>
  SERIES_COLORS[models.findIndex((model) => model.name === name) % 8]!;
