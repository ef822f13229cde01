import type { Failure } from '../../remote/index.ts';
import type { EnginePrompt } from './rollout-engine.ts';

export interface ServerRequest {
  /** From the root of the server on. */
  path: string;
  body: Readonly<Record<string, unknown>>;
}

/** One prompt's group, as every server is asked for it. */
export interface GenerationRequest {
  /** Name of the adapter that shall sample. */
  adapter: string;
  prompt: EnginePrompt;
  /** Pictures of the prompt as data URLs, at the size that the model sees. */
  pictures: readonly string[];
  /** What is given of the answer, decoded; '' where nothing is. */
  given: string;
  /** Token that stands for a part of a picture; null in models that see none. */
  imagePad: number | null;
  count: number;
  maxNewTokens: number;
  temperature: number;
  seed: number;
  /** Tokens that end an answer; empty: it goes on to `maxNewTokens`. */
  endIds: readonly number[];
  bannedIds: readonly number[];
}

export interface ServerChoice {
  /** null: the reply has none. */
  tokenIds: readonly number[] | null;
  /** One per token where all is well. */
  logProbabilities: readonly (number | null)[] | null;
  /** As the server says it. */
  finishReason: string;
}

export interface ServerReply {
  /** Who answered; null where the protocol does not say. */
  model: string | null;
  /** The prompt as the server read it; null where the reply has it not. */
  promptTokenIds: readonly number[] | null;
  promptLength: number | null;
  choices: readonly ServerChoice[];
}

/** How one kind of server is spoken to. Pure: the requests are sent by `ServerEngine`. */
export interface ServerProtocol {
  kind: 'vllm' | 'sglang';
  generation(request: GenerationRequest): ServerRequest;
  /** Failure 'malformed' for a reply of another shape. */
  reply(json: unknown): ServerReply;
  load(name: string, path: string): ServerRequest;
  unload(name: string): ServerRequest;
  /** Whether a request was refused because the server does not know the adapter: after a restart. */
  lacksAdapter(failure: Failure): boolean;
  /** Whether loading was refused because an adapter of this name is loaded; of ours that is the same adapter. */
  isLoaded(failure: Failure): boolean;
  /** What makes the server give log-probabilities at the sampling temperature. */
  logProbabilityHint: string;
  /** What makes the server take adapters. */
  adapterHint: string;
}

/** An added logit that puts a token out of reach at temperatures up to 5. vLLM takes -100 to 100. */
export const BAN_BIAS = -100;
export const MOST_TEMPERATURE = 5;

export const logitBias = (bannedIds: readonly number[]): Record<string, number> =>
  Object.fromEntries(bannedIds.map((id) => [id, BAN_BIAS]));
