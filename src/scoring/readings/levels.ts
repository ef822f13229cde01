import { QUALITY_LEVELS } from '../../core/index.ts';
import type { Sequence, VisionLanguageModel } from '../../model/index.ts';
import { continuationLogProbabilities, tokensBehind } from './continuations.ts';
import { type Distribution, distributionOf, softmax } from './distribution.ts';
import { LEVEL_WORDING } from './stems.ts';

/** Scores of the level words, worst first: 1 for "bad" to 5 for "excellent" (Q-Align, arXiv 2312.17090, eq. 3). */
const LEVEL_SCORES = QUALITY_LEVELS.map((_, i) => i + 1);

/**
 * The score as Q-Align and DeQA-Score read it: softmax over the five words, times 1 to 5.
 *
 * @param logProbabilities of the level words, worst first, up to a constant
 */
export const levelDistribution = (logProbabilities: readonly number[]): Distribution =>
  distributionOf(LEVEL_SCORES, softmax(logProbabilities), 1);

/**
 * The score as Q-Bench reads it (arXiv 2309.14181, section 3.4), p = softmax over "good" and "poor" alone, brought
 * from [0, 1] to the scale by 1 + 4 p. The map is monotonic, so ranks are those of the logit difference.
 */
export const goodPoorScore = (good: number, poor: number): number => 1 + 4 / (1 + Math.exp(poor - good));

/**
 * Log-probabilities of the level words, worst first, after stems that end just before the level: [stems][5]. Of a
 * word of several tokens it is the sum over them.
 */
export async function levelLogProbabilities(
  model: VisionLanguageModel,
  stems: readonly Sequence[],
): Promise<number[][]> {
  if (stems.length === 0) return [];
  const words = QUALITY_LEVELS.map((level) => tokensBehind(model.tokenizer, LEVEL_WORDING, ` ${level}`));
  return continuationLogProbabilities(model, stems, words);
}
