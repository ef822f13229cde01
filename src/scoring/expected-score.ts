import { type Completion, levelOfScore, type Tokenizer } from '../core/index.ts';
import {
  appendTokens,
  lastTokenLogProbabilities,
  type Sequence,
  type VisionLanguageModel,
} from '../model/index.ts';
import type { ScoreResult } from './result.ts';

const ANSWER_TAG = '<answer>';
const FIRST_DIGITS = [1, 2, 3, 4, 5];
const DIGITS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

/**
 * Mean and spread of the score distribution that the model holds after its own greedy reasoning:
 * E = sum over d1 in 1..5, d2 in 0..9 of p(d1) p(d2 | d1) (d1 + d2 / 10 + 0.045), clipped to [1, 5], with p
 * renormalised over digits. The third digit's mean, 0.045, stands for its distribution. The idea of reading a
 * score as an expectation over tokens is Q-Align's (arXiv 2312.17090, section 3.3); over digits it is ours.
 *
 * @param completions what the model wrote about each prompt, greedily
 * @param results the same, read by `readCompletion`
 * @returns results with `score`, `level` and `std` replaced and the score as written in `scoreWritten`; a result without an answer stays as it is
 */
export async function withExpectedScores(
  model: VisionLanguageModel,
  prompts: readonly Sequence[],
  completions: readonly Completion[],
  results: readonly ScoreResult[],
): Promise<ScoreResult[]> {
  const { tokenizer } = model;
  const digitId = (digit: number): number => {
    const [id, ...rest] = tokenizer.encode(String(digit));
    if (id === undefined || rest.length > 0) throw new RangeError(`digit ${digit} is not one token`);
    return id;
  };
  const ids = DIGITS.map(digitId);
  const readable = results.flatMap((result, index) => (result.status === 'ok' ? [index] : []));
  if (readable.length === 0) return [...results];

  const stems = readable.map((index) =>
    appendTokens(prompts[index]!, idsUpToAnswer(completions[index]!, tokenizer), 'action'),
  );
  const point = tokenizer.encode('.');
  const first = await lastTokenLogProbabilities(model, stems, {});
  const second = await lastTokenLogProbabilities(
    model,
    stems.flatMap((stem) => FIRST_DIGITS.map((d) => appendTokens(stem, [ids[d]!, ...point], 'action'))),
    {},
  );
  const updated = [...results];
  readable.forEach((index, row) => {
    const { mean, std } = scoreDistribution(
      FIRST_DIGITS.map((d) => first[row]![ids[d]!]!),
      FIRST_DIGITS.map((_, i) => ids.map((id) => second[row * FIRST_DIGITS.length + i]![id]!)),
    );
    const score = Math.min(5, Math.max(1, mean));
    const written = results[index]!;
    updated[index] = {
      ...written,
      score,
      level: levelOfScore(score),
      ...(written.score === null ? {} : { scoreWritten: written.score }),
      std,
    };
  });
  return updated;
}

/**
 * Mean and standard deviation of the score, the third digit at its mean.
 *
 * @param first log-probabilities of the first digits 1 to 5, up to a constant
 * @param second for each of these, log-probabilities of the digits 0 to 9 after the point, up to a constant
 */
export function scoreDistribution(
  first: readonly number[],
  second: readonly (readonly number[])[],
): { mean: number; std: number } {
  const p1 = normalised(first);
  let mean = 0;
  let square = 0;
  FIRST_DIGITS.forEach((d1, i) => {
    const p2 = normalised(second[i]!);
    DIGITS.forEach((d2) => {
      const value = Math.min(5, d1 + d2 / 10 + 0.045);
      const p = p1[i]! * p2[d2]!;
      mean += p * value;
      square += p * value * value;
    });
  });
  return { mean, std: Math.sqrt(Math.max(0, square - mean * mean)) };
}

/**
 * The tokens up to the last answer tag, as they were sampled: other tokens of the same text would be another
 * state of the model. Only where a token reaches beyond the tag is the text encoded anew.
 */
function idsUpToAnswer({ tokenIds, text }: Completion, tokenizer: Tokenizer): number[] {
  const prefix = text.slice(0, text.lastIndexOf(ANSWER_TAG) + ANSWER_TAG.length);
  let ids: number[] | null = null;
  for (let end = tokenIds.length; end > 0; end--) {
    const shorter = tokenIds.slice(0, end);
    const written = tokenizer.decode(shorter);
    if (written === prefix) ids = shorter;
    if (written.length < prefix.length) break;
  }
  return ids ?? tokenizer.encode(prefix);
}

/** Softmax of log-probabilities. */
function normalised(logProbabilities: readonly number[]): number[] {
  const highest = Math.max(...logProbabilities);
  const weights = logProbabilities.map((value) => Math.exp(value - highest));
  const total = weights.reduce((sum, value) => sum + value, 0);
  return weights.map((value) => value / total);
}
