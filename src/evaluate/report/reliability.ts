import { levelOfScore, QUALITY_LEVELS, type QualityLevel } from '../../core/index.ts';
import { type Prediction, SCORE_RANGE } from '../predictions.ts';
import { chartFigure, type FigureIds, missingFigure } from './charts.ts';
import type { Html } from './html.ts';
import { percent } from './numbers.ts';
import type { SplitReport } from './report-data.ts';

export interface LevelTable {
  /** Every pair of levels, also those that never occur together. */
  cells: { stated: QualityLevel; opinion: QualityLevel; count: number; share: number }[];
  /** Answers that state one level, of pictures whose MOS is on the scale. */
  judged: number;
  exact: number;
  withinOne: number;
}

/** The level that the reasoning states against the level of the MOS; shares are within a stated level. */
export function levelTable(predictions: readonly Prediction[]): LevelTable {
  const judged = predictions.flatMap(({ levelStated, mos }) =>
    levelStated === undefined || mos < SCORE_RANGE.lowest || mos > SCORE_RANGE.highest
      ? []
      : [{ stated: levelStated, opinion: levelOfScore(mos) }],
  );
  const gap = (one: { stated: QualityLevel; opinion: QualityLevel }) =>
    Math.abs(QUALITY_LEVELS.indexOf(one.stated) - QUALITY_LEVELS.indexOf(one.opinion));
  const cells = QUALITY_LEVELS.flatMap((stated) => {
    const group = judged.filter((one) => one.stated === stated);
    return QUALITY_LEVELS.map((opinion) => {
      const count = group.filter((one) => one.opinion === opinion).length;
      return { stated, opinion, count, share: group.length === 0 ? 0 : count / group.length };
    });
  });
  return {
    cells,
    judged: judged.length,
    exact: judged.filter((one) => gap(one) === 0).length,
    withinOne: judged.filter((one) => gap(one) <= 1).length,
  };
}

/** How far a stated level can be trusted: of the pictures called "poor", how many are poor to the raters. */
export async function reliabilityFigure(
  ids: FigureIds,
  model: string,
  { split, predictions }: SplitReport,
): Promise<Html> {
  const { cells, judged, exact, withinOne } = levelTable(predictions);
  const frame = {
    title: model,
    subtitle: 'stated level',
    data: { split, kind: 'reliability', points: judged },
  };
  if (judged === 0) return missingFigure(frame, 'no answer states one quality level');
  const levels = [...QUALITY_LEVELS];
  const encoding = {
    x: {
      field: 'stated',
      type: 'ordinal' as const,
      sort: levels,
      title: 'level the reasoning states',
      axis: { labelAngle: 0, ticks: false, domain: false },
    },
    y: {
      field: 'opinion',
      type: 'ordinal' as const,
      sort: levels.toReversed(),
      title: 'level of the MOS',
      axis: { ticks: false, domain: false },
    },
  };
  const told = `the stated level is that of the MOS for ${exact} of ${judged} (${percent(exact / judged)}), within one level for ${percent(withinOne / judged)}`;
  return chartFigure({
    ...frame,
    id: ids.next('reliability', split, model),
    alt: `${told}, ${split}`,
    spec: {
      width: 225,
      height: 190,
      data: { values: cells },
      encoding,
      layer: [
        {
          mark: { type: 'rect', fill: 'var(--accent)' },
          encoding: {
            opacity: {
              field: 'share',
              type: 'quantitative',
              // Up to a half only: the counts are written on top in the colour of text.
              scale: { domain: [0, 1], range: [0, 0.55] },
              legend: null,
            },
          },
        },
        {
          transform: [{ filter: 'datum.stated === datum.opinion' }],
          mark: { type: 'rect', fill: null, stroke: 'var(--muted)', strokeWidth: 1, strokeDash: [3, 3] },
        },
        {
          transform: [{ filter: 'datum.count > 0' }],
          mark: { type: 'text', fill: 'var(--ink)', fontSize: 11 },
          encoding: { text: { field: 'count', type: 'quantitative' } },
        },
      ],
    },
    note: `${told}; shade: share within a stated level; dashed: agreement`,
  });
}
