import { type Progress, type RgbImage, silentProgress } from '../core/index.ts';
import type { ImageRecord } from '../data/index.ts';
import type { ScoreImagesOptions, ScoreResult, Scorer } from '../scoring/index.ts';
import type { Prediction } from './predictions.ts';

export interface EvaluationInput {
  records: readonly ImageRecord[];
  images: readonly RgbImage[];
  /** Seed of the training run or sample, where several are compared. */
  seed?: number;
}

/**
 * Scores images through the public scorer, so that what is measured is what is served, and puts the truth
 * beside each answer. Records without a MOS are left out and counted by the caller.
 */
export async function predict(
  scorer: Scorer,
  { records, images, seed }: EvaluationInput,
  options: ScoreImagesOptions = {},
): Promise<Prediction[]> {
  const progress: Progress = options.progress ?? silentProgress;
  const known = records.flatMap((record, index) => (record.mos === null ? [] : [index]));
  const results = await scorer.scoreBatch(
    known.map((index) => images[index]!),
    { ...options, progress },
  );
  return known.map((index, i) => predictionOf(records[index]!, results[i]!, seed));
}

/** One prediction row. Distortions are known for generated images only; the strongest comes first. */
export function predictionOf(record: ImageRecord, result: ScoreResult, seed?: number): Prediction {
  const truth = [...record.distortions]
    .sort((a, b) => b.strength - a.strength)
    .map(({ type, level }) => ({ type, level }));
  return {
    id: record.id,
    image: record.image,
    mos: record.mos!,
    ...(record.mosStd === null ? {} : { mosStd: record.mosStd }),
    split: record.split,
    dataset: record.dataset,
    score: result.score,
    status: result.status,
    text: result.text,
    ...(result.reasoning === null ? {} : { reasoning: result.reasoning }),
    ...(result.levelStated === null ? {} : { levelStated: result.levelStated }),
    distortionsNamed: result.distortions.map(({ type, level }) => ({
      type,
      ...(level === undefined ? {} : { level }),
    })),
    ...(record.source === 'imported' ? {} : { distortionsTrue: truth }),
    wellFormed: result.wellFormed,
    finishReason: result.finishReason,
    ...(seed === undefined ? {} : { seed }),
  };
}
