import { ConfigError, type QPonderError, type RgbImage } from '../core/index.ts';
import type { RenderedPrompt } from '../data/index.ts';
import type { VisionLanguageModel } from '../model/index.ts';
import type { Picture } from './inputs/index.ts';
import type { ScoreResult, ScoringMode } from './result.ts';
import { requireScoreOptions, type ScoreImagesOptions } from './score-images.ts';

export interface ScoreOptions extends ScoreImagesOptions {
  /**
   * Whether the words come along. By default they do where the mode makes any. `false` leaves `reasoning` null and
   * `text` empty; what is read from them (level stated, distortions) stays, and so does the time it takes. `true`
   * is a ConfigError in the modes that generate nothing.
   */
  explain?: boolean;
}

/** Milliseconds of wall clock. */
export interface ScoreTimings {
  /** Reading, decoding and shrinking this picture. */
  openMs: number;
  /** The model's work on all the pictures that were scored together. */
  modelMs: number;
  /** How many these were. */
  sharedBy: number;
}

/** A result with where it comes from. */
export interface Score extends ScoreResult {
  /** SHA-256 of the weights; null for a model given in memory or in several files. */
  modelSha256: string | null;
  /** SHA-256 of the prompt file. */
  promptHash: string;
  mode: ScoringMode;
  timings: ScoreTimings;
}

/** What became of one picture of a series: its score, or why there is none. */
export type BatchItem =
  | { index: number; score: Score; error: null }
  | { index: number; score: null; error: QPonderError };

/** What scoring works with, once a model is loaded. */
export interface ScoringContext {
  model: VisionLanguageModel;
  prompt: RenderedPrompt;
  mode: ScoringMode;
  modelSha256: string | null;
  /** Decodes and shrinks; the errors are those of `openPicture` and `Scorer.shrink`. */
  open(input: Picture, signal: AbortSignal | undefined): Promise<RgbImage>;
  /** InputError once the scorer is closed. */
  requireOpen(): void;
}

const WORDLESS: readonly ScoringMode[] = ['expected-direct', 'levels-direct', 'good-poor'];

/** The options with the scorer's mode where they name none. ConfigError for what cannot be carried out. */
export function settle<T extends ScoreOptions>(
  options: T | undefined,
  context: Pick<ScoringContext, 'mode'>,
): T & { mode: ScoringMode } {
  const settled = { ...(options ?? ({} as T)), mode: options?.mode ?? context.mode };
  requireScoreOptions(settled);
  const { explain, mode } = settled;
  if (explain !== undefined && typeof explain !== 'boolean') {
    throw new ConfigError(`explain is ${String(explain)}, allowed are true and false`);
  }
  if (explain === true && WORDLESS.includes(mode)) {
    throw new ConfigError(`explain is true, but the mode ${mode} writes no reasoning`, {
      hint: 'take expected, greedy, sampled or levels',
    });
  }
  return settled;
}

/** A result as the caller gets it. */
export function asScore(
  result: ScoreResult,
  context: ScoringContext,
  { mode, explain }: ScoreOptions & { mode: ScoringMode },
  timings: ScoreTimings,
): Score {
  const { modelSha256, prompt } = context;
  const words = explain === false ? { reasoning: null, text: '' } : {};
  return { ...result, ...words, modelSha256, promptHash: prompt.hash, mode, timings };
}
