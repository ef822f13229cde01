/** The seams of the product, as types only. Implementations depend on these, not on each other. */

/** Role of each token in a sequence. Only action tokens carry loss and advantage. */
export type TokenRole = 'prompt' | 'observation' | 'action' | 'pad';

export type FinishReason = 'stop' | 'length';

/** An image as pixels: 8-bit RGB, row-major, 3 bytes per pixel, `data.length === width * height * 3`. */
export interface RgbImage {
  data: Uint8Array;
  width: number;
  height: number;
}

/** One sampled response. Token in, token out: ids are never decoded and re-encoded. */
export interface Completion {
  tokenIds: number[];
  /** Log-probability of each sampled token under the sampler, at the sampling temperature. */
  logProbabilities: number[];
  text: string;
  finishReason: FinishReason;
}

export interface Tokenizer {
  readonly vocabularySize: number;
  readonly endOfSequenceIds: readonly number[];
  readonly padId: number;
  encode(text: string): number[];
  decode(ids: readonly number[], options?: { keepSpecial?: boolean }): string;
  tokenId(token: string): number | undefined;
}

/** A reward term's answer: a number, or a reason why there is none. Never a failure turned into 0. */
export type RewardValue = { status: 'ok'; value: number } | { status: 'missing'; reason: string };

/** Where a training stage reports. Values are finite numbers by their standard names. */
export interface MetricSink {
  metrics(step: number, values: Record<string, number>): void;
}

/** Progress of long work, drawn by the command line and ignored by the library. */
export interface Progress {
  start(label: string, total: number): void;
  update(done: number, detail?: Record<string, string | number>): void;
  stop(): void;
  note(line: string): void;
}

export const silentProgress: Progress = {
  start: () => undefined,
  update: () => undefined,
  stop: () => undefined,
  note: () => undefined,
};

/** Quality levels, worst first. Level k (0..4) covers scores [1 + 0.8k, 1.8 + 0.8k), the last one closed. */
export const QUALITY_LEVELS = ['bad', 'poor', 'fair', 'good', 'excellent'] as const;
export type QualityLevel = (typeof QUALITY_LEVELS)[number];

/** The level of a score in [1, 5] by five bins of equal width, the usual reading of the ITU five-grade scale (Q-Align). */
export function levelOfScore(score: number): QualityLevel {
  if (!(score >= 1 && score <= 5)) throw new RangeError(`levelOfScore: got ${score}, allowed is 1 to 5`);
  // The small term keeps 1.8, 2.6, ... on the upper side in spite of binary rounding.
  return QUALITY_LEVELS[Math.min(4, Math.floor((score - 1) / 0.8 + 1e-9))] as QualityLevel;
}
