import type { FinishReason, QualityLevel } from '../core/index.ts';
import type { NamedDistortion } from '../data/index.ts';
import type { ScoreDistribution, ScoreInterval } from './score-distribution.ts';

/**
 * How a score is read from the model.
 * - `greedy`: the most likely tokens; the score is the number the model writes.
 * - `expected`: greedy reasoning, then the mean of the model's distribution over the answer's digits; finer
 *   than greedy, and as deterministic. It generates: the readings in one pass, which do not, are `expected-direct`
 *   and its like in SCORING_MODES; they correlate worse with opinions.
 * - `sampled`: answers drawn at a temperature; the mean of their scores where there are several.
 */
export const SCORE_MODES = ['greedy', 'expected', 'sampled'] as const;
export type ScoreMode = (typeof SCORE_MODES)[number];

/**
 * The same and further readings, for comparison with the field:
 * - `levels`: greedy reasoning, then the mean over the five level words at the place where it states its level
 *   (Q-Align, DeQA-Score). Without an answer there is none.
 * - `expected-direct`: no reasoning; the mean over the digits right after a forced answer tag.
 * - `levels-direct`: no reasoning; the mean over the level words after a forced wording.
 * - `good-poor`: no reasoning; softmax over "good" and "poor" after the same wording, as 1 + 4 p (Q-Bench).
 * The direct ones generate nothing: each costs a forward pass or two over a prompt and its beginnings of answers.
 */
export const SCORING_MODES = [
  ...SCORE_MODES,
  'levels',
  'expected-direct',
  'levels-direct',
  'good-poor',
] as const;
export type ScoringMode = (typeof SCORING_MODES)[number];

export interface ScoreResult {
  /**
   * `ok`: there is a score. `unparsable`: the output holds no score. `out-of-range`: it holds one outside
   * [1, 5]. `truncated`: the output was cut before an answer. Only `ok` has a score.
   */
  status: 'ok' | 'unparsable' | 'out-of-range' | 'truncated';
  /** In [1, 5], higher is better; null unless `status` is `ok`. */
  score: number | null;
  /** Level of the score; null without one. */
  level: QualityLevel | null;
  /** What stands between the think tags; null where there are none. */
  reasoning: string | null;
  /** Level that the reasoning states; null where it states none, or several. */
  levelStated: QualityLevel | null;
  /** Distortions named in the reasoning, in order. */
  distortions: NamedDistortion[];
  /** Whether the whole output keeps the contract. */
  wellFormed: boolean;
  /** The whole output. */
  text: string;
  finishReason: FinishReason;
  /** The score in `text`, where `score` is a mean that replaces it: `expected`, `levels`, several samples. */
  scoreWritten?: number;
  /** Standard deviation of what `score` is the mean of: digits, level words, or the scores of the samples. */
  std?: number;
  /** Where several answers were drawn: how many, and the score of each, null for one without. */
  samples?: { drawn: number; scores: (number | null)[] };
  /** Where several views of the picture were scored: the score of each, the centre first. */
  views?: number[];
  /**
   * The central 95 % of what the model holds likely: of the digits or level words where `score` is a mean over
   * these, of the scores of the samples where there are several. Absent in `greedy`, `good-poor` and for one
   * sample, which say nothing about their doubt. It is about the model's doubt, not about its errors.
   */
  interval?: ScoreInterval;
  /** What `interval` is taken from. Only where it is asked for (`distribution: true`). */
  distribution?: ScoreDistribution;
}
