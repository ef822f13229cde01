import { Rng } from '../../core/index.ts';
import type { ImageRecord } from '../../data/index.ts';
import { type Prediction, SCORE_RANGE } from '../predictions.ts';
import { predictionOf } from '../run-evaluation.ts';
import type { ImageFeatures } from './features.ts';
import type { BaselineName } from './names.ts';
import { applyRidge, chooseRidge, type RidgeModel } from './ridge.ts';

export { featuresOf, type ImageFeatures, imageFeatures } from './features.ts';
export { BASELINES, type BaselineName } from './names.ts';
export type { RidgeModel } from './ridge.ts';

export interface Baseline {
  name: BaselineName;
  /** Training images it was fitted on. */
  trainedOn: number;
  model: RidgeModel;
}

/** Fits a baseline on training images, all with a MOS. One feature is a straight line, so its sign is learnt too. */
export function fitBaseline(
  name: BaselineName,
  records: readonly ImageRecord[],
  features: readonly ImageFeatures[],
  seed: number | string = 0,
): Baseline {
  const model = chooseRidge(
    features.map((row) => row[name]),
    records.map(({ mos }) => mos!),
    records.map(({ group }) => group),
    new Rng(seed).fork('baseline', name),
  );
  return { name, trainedOn: records.length, model };
}

/** Its predictions, cut to the scale. There is no text, so nothing is said about reasoning and format. */
export function predictBaseline(
  { name, model }: Baseline,
  records: readonly ImageRecord[],
  features: readonly ImageFeatures[],
): Prediction[] {
  return records.map((record, i) => {
    const raw = applyRidge(model, features[i]![name]);
    const score = Math.min(SCORE_RANGE.highest, Math.max(SCORE_RANGE.lowest, raw));
    return predictionOf(record, {
      status: 'ok',
      score,
      level: null,
      reasoning: null,
      levelStated: null,
      distortions: [],
      wellFormed: false,
      text: '',
      finishReason: 'stop',
    });
  });
}
