import { levelOfScore, QUALITY_LEVELS } from '../../core/index.ts';
import type { Sequence, VisionLanguageModel } from '../../model/index.ts';
import type { ScoreResult, ScoringMode } from '../result.ts';
import { digitDistributions } from './digits.ts';
import type { Distribution } from './distribution.ts';
import { goodPoorScore, levelDistribution, levelLogProbabilities } from './levels.ts';
import { DIRECT_STEMS, forced } from './stems.ts';

/** Readings that generate nothing: the beginning of an answer is forced, and the next words' probabilities read. */
export type DirectMode = Extract<ScoringMode, 'expected-direct' | 'levels-direct' | 'good-poor'>;

/** A result for each prompt. There is no text, so nothing is said about reasoning and format. */
export async function directResults(
  model: VisionLanguageModel,
  prompts: readonly Sequence[],
  mode: DirectMode,
): Promise<ScoreResult[]> {
  const distributions = await READERS[mode](model, prompts);
  return distributions.map(({ mean, std, distribution }) => {
    const score = Math.min(5, Math.max(1, mean));
    return {
      status: 'ok',
      score,
      level: levelOfScore(score),
      reasoning: null,
      levelStated: null,
      distortions: [],
      wellFormed: false,
      text: '',
      finishReason: 'stop',
      ...(std === undefined ? {} : { std }),
      ...(distribution === undefined ? {} : { distribution }),
    };
  });
}

type Reader = (
  model: VisionLanguageModel,
  prompts: readonly Sequence[],
) => Promise<(Pick<Distribution, 'mean'> & Partial<Distribution>)[]>;

const READERS: Record<DirectMode, Reader> = {
  'expected-direct': (model, prompts) =>
    digitDistributions(
      model,
      prompts.map((prompt) => forced(prompt, DIRECT_STEMS.digits, model.tokenizer)),
    ),
  'levels-direct': async (model, prompts) => (await directLevels(model, prompts)).map(levelDistribution),
  'good-poor': async (model, prompts) =>
    (await directLevels(model, prompts)).map((words) => ({
      mean: goodPoorScore(words[QUALITY_LEVELS.indexOf('good')]!, words[QUALITY_LEVELS.indexOf('poor')]!),
    })),
};

const directLevels = (model: VisionLanguageModel, prompts: readonly Sequence[]): Promise<number[][]> =>
  levelLogProbabilities(
    model,
    prompts.map((prompt) => forced(prompt, DIRECT_STEMS.levels, model.tokenizer)),
  );
