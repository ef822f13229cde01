import { type Completion, levelOfScore } from '../core/index.ts';
import { appendTokens, type Sequence, type VisionLanguageModel } from '../model/index.ts';
import { digitDistributions } from './readings/digits.ts';
import type { Distribution } from './readings/distribution.ts';
import { levelDistribution, levelLogProbabilities } from './readings/levels.ts';
import { textUpToAnswer, textUpToLevel, tokensUpTo } from './readings/stems.ts';
import type { ScoreResult } from './result.ts';

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
export function withExpectedScores(
  model: VisionLanguageModel,
  prompts: readonly Sequence[],
  completions: readonly Completion[],
  results: readonly ScoreResult[],
): Promise<ScoreResult[]> {
  return afterReasoning(model, prompts, completions, results, textUpToAnswer, (stems) =>
    digitDistributions(model, stems),
  );
}

/**
 * The same over the five level words, at the place where the model's own greedy reasoning states its level: the
 * reading of Q-Align (its eq. 3) and DeQA-Score, 1 for "bad" to 5 for "excellent". Where the reasoning states no
 * level, it is asked for behind it with the shipped wording.
 */
export function withLevelScores(
  model: VisionLanguageModel,
  prompts: readonly Sequence[],
  completions: readonly Completion[],
  results: readonly ScoreResult[],
): Promise<ScoreResult[]> {
  const upTo = (text: string, result: ScoreResult): string =>
    textUpToLevel({ text, reasoning: result.reasoning });
  return afterReasoning(model, prompts, completions, results, upTo, async (stems) =>
    (await levelLogProbabilities(model, stems)).map(levelDistribution),
  );
}

/** Replaces the score of each answered result by the mean of a distribution read in the middle of its text. */
async function afterReasoning(
  model: VisionLanguageModel,
  prompts: readonly Sequence[],
  completions: readonly Completion[],
  results: readonly ScoreResult[],
  upTo: (text: string, result: ScoreResult) => string,
  read: (stems: Sequence[]) => Promise<Distribution[]>,
): Promise<ScoreResult[]> {
  const answered = results.flatMap((result, index) => (result.status === 'ok' ? [index] : []));
  const stems = answered.map((index) => {
    const completion = completions[index]!;
    const beginning = upTo(completion.text, results[index]!);
    return appendTokens(prompts[index]!, tokensUpTo(completion, beginning, model.tokenizer), 'action');
  });
  const distributions = await read(stems);
  const updated = [...results];
  answered.forEach((index, row) => {
    const { mean, std, distribution } = distributions[row]!;
    const score = Math.min(5, Math.max(1, mean));
    const written = results[index]!;
    updated[index] = {
      ...written,
      score,
      level: levelOfScore(score),
      ...(written.score === null ? {} : { scoreWritten: written.score }),
      std,
      distribution,
    };
  });
  return updated;
}
