import { z } from 'zod';
import { InputError, QUALITY_LEVELS, SCORE_MAX, SCORE_MIN } from '../core/index.ts';

const distortionSchema = z.strictObject({
  type: z.string().min(1),
  /** Severity, 1 (slight) to 5 (severe); absent when not stated. */
  level: z.number().int().min(1).max(5).optional(),
});

/** One model's answer about one image, with the truth beside it: a row of predictions.jsonl. */
export const predictionSchema = z.strictObject({
  /** Identifies the image; the same in every model's predictions, so that they can be paired. */
  id: z.string().min(1),
  /** Path or name of the picture. */
  image: z.string(),
  /** Mean opinion score on the scale of `score`, higher better. */
  mos: z.number(),
  mosStd: z.number().nonnegative().optional(),
  split: z.string(),
  dataset: z.string(),
  /** The parsed score in [1, 5], or null when the answer holds none. Never a substitute. */
  score: z.number().nullable(),
  /** Standard deviation of what `score` is the mean of: digits, level words, or several samples. */
  scoreStd: z.number().nonnegative().optional(),
  /** The score in `text`, where `score` is a mean. */
  scoreWritten: z.number().optional(),
  /** The score of each sample, null for one without. */
  sampleScores: z.array(z.number().nullable()).optional(),
  /** The parser's verdict: "ok" beside a score, otherwise why there is none. */
  status: z.string().min(1),
  /** The whole answer, as generated. */
  text: z.string(),
  reasoning: z.string().optional(),
  /** The quality level that the reasoning states, if it states exactly one. */
  levelStated: z.enum(QUALITY_LEVELS).optional(),
  /** In order of first mention. */
  distortionsNamed: z.array(distortionSchema),
  /** Absent when unknown; empty for a pristine picture. The main distortion comes first. */
  distortionsTrue: z.array(distortionSchema).optional(),
  /** Whether the whole answer matches the output contract. */
  wellFormed: z.boolean(),
  finishReason: z.enum(['stop', 'length']),
  /** Seed of the training run or of the sample, where several are compared. */
  seed: z.number().int().optional(),
});

export type Prediction = z.infer<typeof predictionSchema>;
export type Distortion = z.infer<typeof distortionSchema>;

/** The ends of the scale that scores and normalised MOS share. */
export const SCORE_RANGE = { lowest: SCORE_MIN, highest: SCORE_MAX } as const;

/** Predictions by image id; an id that occurs twice is an InputError. */
export function byImageId(predictions: readonly Prediction[]): Map<string, Prediction> {
  const byId = new Map<string, Prediction>();
  const repeated = new Set<string>();
  for (const prediction of predictions) {
    if (byId.has(prediction.id)) repeated.add(prediction.id);
    byId.set(prediction.id, prediction);
  }
  if (repeated.size > 0) {
    const some = [...repeated].slice(0, 5).join(', ');
    throw new InputError(
      `${repeated.size} image id(s) occur more than once in one set of predictions: ${some}`,
      {
        hint: 'give one prediction per image; keep several seeds apart by the field "seed" and summarize each alone',
      },
    );
  }
  return byId;
}
