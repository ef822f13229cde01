import { ConfigError, type Progress, type RgbImage, Rng, silentProgress } from '../core/index.ts';
import type { RenderedPrompt } from '../data/index.ts';
import {
  fixedViews,
  generate,
  preprocess,
  promptSequence,
  type Sequence,
  type VisionLanguageModel,
} from '../model/index.ts';
import { withExpectedScores, withLevelScores } from './expected-score.ts';
import { mergeViews } from './merge-views.ts';
import { readCompletion } from './read-completion.ts';
import { directResults } from './readings/direct.ts';
import { meanOfSamples } from './readings/samples.ts';
import { SCORING_MODES, type ScoreResult, type ScoringMode } from './result.ts';
import { scoreInterval } from './score-distribution.ts';

export interface ScoreImagesOptions {
  mode?: ScoringMode;
  /** `sampled` only. Default 1. */
  temperature?: number;
  topP?: number;
  seed?: number;
  /** `sampled` only: answers drawn for each image; the score is their mean. Default 1. */
  samples?: number;
  /** Place of the first image in a longer series that is scored part by part; decides what `sampled` draws. */
  firstIndex?: number;
  /** Default 96. */
  maxNewTokens?: number;
  /** Images per forward pass; changes speed and memory, and which numbers `sampled` draws. Default 64. */
  batchSize?: number;
  /** Adds the distribution that `interval` is taken from. Default false. */
  distribution?: boolean;
  progress?: Progress;
  /** Looked at before each batch, and every 64 tokens in it; the signal's reason is then thrown. */
  signal?: AbortSignal;
}

/** ConfigError for an option that cannot be carried out: the library is called from plain JavaScript too. */
export function requireScoreOptions(options: ScoreImagesOptions): void {
  const { mode, temperature, topP, seed, samples, firstIndex, maxNewTokens, batchSize } = options;
  const count = (value: number): boolean => Number.isInteger(value) && value >= 1;
  const checks: [string, unknown, boolean, string][] = [
    ['mode', mode, SCORING_MODES.some((known) => known === mode), SCORING_MODES.join(', ')],
    ['temperature', temperature, Number.isFinite(temperature) && temperature! > 0, 'a number above 0'],
    ['topP', topP, topP! > 0 && topP! <= 1, 'a number in (0, 1]'],
    ['seed', seed, Number.isFinite(seed), 'a number'],
    ['samples', samples, count(samples!), 'a whole number from 1'],
    ['firstIndex', firstIndex, firstIndex === 0 || count(firstIndex!), 'a whole number from 0'],
    ['maxNewTokens', maxNewTokens, count(maxNewTokens!), 'a whole number from 1'],
    ['batchSize', batchSize, count(batchSize!), 'a whole number from 1'],
  ];
  for (const [name, value, holds, allowed] of checks) {
    if (value === undefined || holds) continue;
    throw new ConfigError(`${name} is ${JSON.stringify(value) ?? String(value)}, allowed is ${allowed}`);
  }
}

/** Looks at a picture, each a prompt of its own. */
export const viewCount = ({ processor: { views } }: VisionLanguageModel): number => views?.count ?? 1;

/** A result with the interval of its distribution, which itself stays only where it is asked for. */
export function withInterval(
  { distribution, ...result }: ScoreResult,
  options: Pick<ScoreImagesOptions, 'distribution'>,
): ScoreResult {
  if (distribution === undefined) return result;
  const interval = scoreInterval(distribution);
  return options.distribution ? { ...result, interval, distribution } : { ...result, interval };
}

/** What the model is shown of a picture: the whole, or the views that its processor asks for. */
const shownViews = ({ processor: { views } }: VisionLanguageModel, image: RgbImage): RgbImage[] =>
  views === null ? [image] : fixedViews(image, views);

/** A prompt about one picture as token ids, in the model's own chat template. */
export function questionSequence(
  model: VisionLanguageModel,
  prompt: Pick<RenderedPrompt, 'text'>,
  image: RgbImage,
): Sequence {
  const content = [{ type: 'image' as const }, { type: 'text' as const, text: prompt.text }];
  return promptSequence(model, [{ role: 'user', content }], [preprocess(image, model.processor)]);
}

/**
 * Scores images in memory with a loaded model: the one path that training validation, evaluation, the command
 * line and the library share. Results are in the order of the images.
 */
export async function scoreImages(
  model: VisionLanguageModel,
  prompt: Pick<RenderedPrompt, 'text'>,
  images: readonly RgbImage[],
  options: ScoreImagesOptions = {},
): Promise<ScoreResult[]> {
  requireScoreOptions(options);
  const { mode = 'greedy', samples = 1, firstIndex = 0, batchSize = 64 } = options;
  const progress = options.progress ?? silentProgress;
  const perImage = (mode === 'sampled' ? samples : 1) * viewCount(model);
  const atOnce = Math.max(1, Math.floor(batchSize / perImage));
  const results: ScoreResult[] = [];
  for (let at = 0; at < images.length; at += atOnce) {
    options.signal?.throwIfAborted();
    const shown = images.slice(at, at + atOnce).map((image) => shownViews(model, image));
    const prompts = shown.flat().map((view) => questionSequence(model, prompt, view));
    const answers = await scorePrompts(model, prompts, mode, options, firstIndex + at);
    for (const views of shown) {
      results.push(withInterval(mergeViews(answers.splice(0, views.length)), options));
    }
    progress.update(results.length);
  }
  return results;
}

/** Scores one batch; `place` names its draws. */
async function scorePrompts(
  model: VisionLanguageModel,
  prompts: readonly Sequence[],
  mode: ScoringMode,
  { temperature = 1, topP = 1, seed = 0, samples = 1, maxNewTokens = 96, signal }: ScoreImagesOptions,
  place: number,
): Promise<ScoreResult[]> {
  if (mode === 'expected-direct' || mode === 'levels-direct' || mode === 'good-poor') {
    return directResults(model, prompts, mode);
  }
  const sampled = mode === 'sampled';
  const drawn = await generate(model, prompts, {
    maxNewTokens,
    temperature: sampled ? temperature : 0,
    topP: sampled ? topP : 1,
    samplesPerPrompt: sampled ? samples : 1,
    rng: new Rng(seed).fork('score', place),
    ...(signal === undefined ? {} : { signal }),
  });
  if (sampled && samples > 1) return drawn.map((answers) => meanOfSamples(answers.map(readCompletion)));
  const completions = drawn.map(([completion]) => completion!);
  const read = completions.map(readCompletion);
  if (mode === 'expected') return withExpectedScores(model, prompts, completions, read);
  return mode === 'levels' ? withLevelScores(model, prompts, completions, read) : read;
}
