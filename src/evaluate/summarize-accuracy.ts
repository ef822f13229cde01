import { levelOfScore, QUALITY_LEVELS, type QualityLevel } from '../core/index.ts';
import {
  type LevelAccuracy,
  levelAccuracy,
  type Metric,
  metricValue,
  outlierRatio,
  type PairwiseAccuracy,
  type Proportion,
  pairwiseAccuracy,
  rmse,
  srcc,
  type UndefinedBecause,
  undefinedBecause,
} from '../metrics/index.ts';
import { telling } from './least-rows.ts';
import { type Prediction, SCORE_RANGE } from './predictions.ts';

type ScoredPrediction = Prediction & { score: number };

/** The images of one quality level, by their MOS. */
export interface LevelRow {
  level: QualityLevel;
  /** Images with such a MOS, and those of them with a score. */
  n: number;
  scored: number;
  srcc: Metric;
  rmse: Metric;
  /** Mean of score minus MOS. */
  bias: Metric;
}

/** What a correlation does not show: the right level, the right order of two images, errors beyond the raters' spread. */
export interface AccuracySummary {
  /** Level of the score against level of the MOS. */
  levels: LevelAccuracy | UndefinedBecause;
  /** Order of two images, by the gap of their MOS. */
  pairs: PairwiseAccuracy;
  /**
   * Share of raw scores farther from the MOS than twice the standard deviation of that image's opinions (VQEG,
   * FR-TV phase I), over the images with a known deviation.
   */
  outliers: (Proportion & { status: 'ok' }) | UndefinedBecause;
  /** By level of the MOS, "bad" first; levels without an image are left out. */
  byLevel: LevelRow[];
}

const onScale = (value: number): boolean => value >= SCORE_RANGE.lowest && value <= SCORE_RANGE.highest;

/** Accuracy of the answers with a score. Levels are those of the scale 1 to 5; a MOS outside it has none. */
export function summarizeAccuracy(predictions: readonly Prediction[]): AccuracySummary {
  const scored = predictions.filter((p): p is ScoredPrediction => p.score !== null);
  const strange = predictions.filter(({ mos }) => !onScale(mos)).length;
  return {
    levels:
      strange > 0
        ? undefinedBecause('outside-scale', `${strange} of ${predictions.length} MOS are outside 1 to 5`)
        : levelAccuracy(scoresOf(scored), targetsOf(scored)),
    pairs: pairwiseAccuracy(scoresOf(scored), targetsOf(scored)),
    outliers: outliersOf(scored),
    byLevel: QUALITY_LEVELS.flatMap((level) => {
      const all = predictions.filter(({ mos }) => onScale(mos) && levelOfScore(mos) === level);
      return all.length === 0 ? [] : [levelRow(level, all)];
    }),
  };
}

const scoresOf = (scored: readonly ScoredPrediction[]): number[] => scored.map(({ score }) => score);
const targetsOf = (scored: readonly ScoredPrediction[]): number[] => scored.map(({ mos }) => mos);

function outliersOf(scored: readonly ScoredPrediction[]): AccuracySummary['outliers'] {
  const known = scored.filter((p): p is ScoredPrediction & { mosStd: number } => p.mosStd !== undefined);
  if (known.length === 0) {
    return undefinedBecause('nothing-to-count', 'no image has a known standard deviation of its opinions');
  }
  return outlierRatio(
    scoresOf(known),
    targetsOf(known),
    known.map(({ mosStd }) => mosStd),
  );
}

function levelRow(level: QualityLevel, all: readonly Prediction[]): LevelRow {
  const scored = all.filter((p): p is ScoredPrediction => p.score !== null);
  const [scores, targets] = [scoresOf(scored), targetsOf(scored)];
  const sum = scored.reduce((total, { score, mos }) => total + score - mos, 0);
  return {
    level,
    n: all.length,
    scored: scored.length,
    srcc: telling(srcc(scores, targets), scored.length),
    rmse: rmse(scores, targets),
    bias:
      scored.length === 0
        ? undefinedBecause('too-few', 'no prediction has a score')
        : metricValue(sum / scored.length),
  };
}
