import { ConfigError, type Progress, type RgbImage, Rng, silentProgress } from '../core/index.ts';
import type { RenderedPrompt } from '../data/index.ts';
import {
  generate,
  preprocess,
  promptSequence,
  type Sequence,
  type VisionLanguageModel,
} from '../model/index.ts';
import { withExpectedScores } from './expected-score.ts';
import { readCompletion } from './read-completion.ts';
import { SCORE_MODES, type ScoreMode, type ScoreResult } from './result.ts';

export interface ScoreImagesOptions {
  mode?: ScoreMode;
  /** `sampled` only. Default 1. */
  temperature?: number;
  topP?: number;
  seed?: number;
  /** Default 96. */
  maxNewTokens?: number;
  /** Images per forward pass; changes speed and memory, and which numbers `sampled` draws. Default 64. */
  batchSize?: number;
  progress?: Progress;
  signal?: AbortSignal;
}

/** ConfigError for an option that cannot be carried out: the library is called from plain JavaScript too. */
export function requireScoreOptions(options: ScoreImagesOptions): void {
  const { mode, temperature, topP, seed, maxNewTokens, batchSize } = options;
  const count = (value: number): boolean => Number.isInteger(value) && value >= 1;
  const checks: [string, unknown, boolean, string][] = [
    ['mode', mode, SCORE_MODES.some((known) => known === mode), SCORE_MODES.join(', ')],
    ['temperature', temperature, Number.isFinite(temperature) && temperature! > 0, 'a number above 0'],
    ['topP', topP, topP! > 0 && topP! <= 1, 'a number in (0, 1]'],
    ['seed', seed, Number.isFinite(seed), 'a number'],
    ['maxNewTokens', maxNewTokens, count(maxNewTokens!), 'a whole number from 1'],
    ['batchSize', batchSize, count(batchSize!), 'a whole number from 1'],
  ];
  for (const [name, value, holds, allowed] of checks) {
    if (value === undefined || holds) continue;
    throw new ConfigError(`${name} is ${JSON.stringify(value) ?? String(value)}, allowed is ${allowed}`);
  }
}

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
  const { mode = 'greedy', temperature = 1, topP = 1, seed = 0, maxNewTokens = 96, batchSize = 64 } = options;
  const progress = options.progress ?? silentProgress;
  const results: ScoreResult[] = [];
  for (let at = 0; at < images.length; at += batchSize) {
    options.signal?.throwIfAborted();
    const prompts = images.slice(at, at + batchSize).map((image) => questionSequence(model, prompt, image));
    const completions = await generate(model, prompts, {
      maxNewTokens,
      temperature: mode === 'sampled' ? temperature : 0,
      topP: mode === 'sampled' ? topP : 1,
      rng: new Rng(seed).fork('score', at),
    });
    const read = completions.map(([completion]) => readCompletion(completion!));
    results.push(
      ...(mode === 'expected' ? await withExpectedScores(model, prompts, completions.flat(), read) : read),
    );
    progress.update(results.length);
  }
  return results;
}
