import type { FinishReason, QualityLevel } from '../core/index.ts';
import type { NamedDistortion } from '../data/index.ts';

/**
 * How a score is read from the model.
 * - `greedy`: the most likely tokens; the score is the number the model writes.
 * - `expected`: greedy reasoning, then the mean of the model's distribution over the answer's digits; finer
 *   than greedy, and as deterministic.
 * - `sampled`: one answer drawn at a temperature.
 */
export const SCORE_MODES = ['greedy', 'expected', 'sampled'] as const;
export type ScoreMode = (typeof SCORE_MODES)[number];

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
  /** Mode `expected` only: the score that the model wrote, which `score` replaces. */
  scoreWritten?: number;
  /** Standard deviation of the distribution over the answer's digits; mode `expected` only. */
  std?: number;
}
