import type { RgbImage } from '../../core/index.ts';
import type { InputOptions, ScoreOptions, ScoreResult, ScoringMode } from '../../scoring/index.ts';

/** What both kinds of thread are opened with. */
export interface ThreadSettings {
  model: string;
  prompt: string;
  mode: ScoringMode;
  threads: number;
  /** Pictures of one pass; also the largest batch that is compiled before the thread is ready. */
  maxImages: number;
  warmUp: boolean;
  input: InputOptions;
}

/**
 * A picture as a request brought it. Text is a data URL, or an http(s) URL where that is allowed; never a path,
 * which no request can name.
 */
export type EncodedPicture = { bytes: Uint8Array } | { url: string };

/** A picture at the size the model sees. */
export interface PreparedPicture {
  image: RgbImage;
  /** Pictures with equal keys share compiled graphs. */
  shape: string;
  /** Size as decoded. */
  width: number;
  height: number;
}

/** How a request wants its pictures scored. */
export type ScoreQuestion = Pick<
  ScoreOptions,
  | 'mode'
  | 'temperature'
  | 'topP'
  | 'seed'
  | 'samples'
  | 'firstIndex'
  | 'maxNewTokens'
  | 'explain'
  | 'distribution'
>;

export interface ChatOptions {
  temperature: number;
  topP: number;
  seed: number;
  maxNewTokens: number;
  /** The text is told as it is made. Such a conversation is answered alone. */
  stream: boolean;
}

/** Parts of a conversation; each image part takes the next of the pictures. */
export interface ChatTurn {
  role: 'system' | 'user' | 'assistant';
  content: ({ type: 'text'; text: string } | { type: 'image' })[];
}

export type InferenceTask =
  | { kind: 'score'; images: RgbImage[]; options: ScoreQuestion }
  | { kind: 'chat'; conversations: { turns: ChatTurn[]; images: RgbImage[] }[]; options: ChatOptions };

export interface ChatAnswer {
  text: string;
  finishReason: 'stop' | 'length';
  promptTokens: number;
  completionTokens: number;
  /** The answer read by the output contract. */
  result: ScoreResult;
}

export interface ModelInfo {
  /** SHA-256 of the weights (`weightsSha256`). */
  modelSha256: string | null;
  prompt: { id: string; version: number; hash: string };
  mode: ScoringMode;
}
