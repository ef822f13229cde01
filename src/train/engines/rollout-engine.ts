import type { Completion, RgbImage, Rng } from '../../core/index.ts';
import type { ChatMessage, ImageFeatures, Sequence, VisionLanguageModel } from '../../model/index.ts';

/** A question as both sides need it: the trainer as tokens, a server of its own as messages and pictures. */
export interface EnginePrompt {
  /** What is trained on: the prompt, and after it what is given of an answer ('observation' or 'action'). */
  sequence: Sequence;
  /** The conversation that `sequence` was made of, without what is given of the answer. */
  messages: readonly ChatMessage[];
  /** Pictures behind `sequence.images`, in order, as they were handed to the processor: mirrored and cut already. */
  images: readonly RgbImage[];
}

/** Why a completion that was asked for is not there. Stable names: they are counted in metrics. */
export const ROLLOUT_FAILURES = [
  /** No connection, or it broke, also after the last try. */
  'unreachable',
  /** No reply within the time allowed, or the server stopped answering at all. */
  'timeout',
  /** HTTP 429 and 5xx after the last try, or an answer that the server itself gave up. */
  'server',
  /** HTTP 4xx: the server does not take the request. */
  'refused',
  /** Not the reply that the protocol promises: cut JSON, no choices, fields of another kind. */
  'malformed',
  /** Fewer choices came than were asked for. */
  'missing-choice',
  /** No token ids: the text must not be encoded again, so the answer is of no use. */
  'missing-token-ids',
  /** No log-probability for one of the tokens. */
  'missing-log-probabilities',
  /** A token that the trainer gives probability 0, such as one that stands for pictures. */
  'banned-token',
  /** An end of sequence inside, no tokens, more than asked for, or an end without an end token. */
  'wrong-end',
  /** Sampled by the base model, by an unknown adapter, or by one older than allowed. */
  'stale-adapter',
] as const;
export type RolloutFailureReason = (typeof ROLLOUT_FAILURES)[number];

export interface RolloutFailure {
  reason: RolloutFailureReason;
  /** What was got, for a log. */
  message: string;
}

export interface EngineCompletion extends Completion {
  /** Policy version whose weights sampled it. */
  version: number;
}

/** Answers to one prompt. Completions and failures together are as many as were asked for. */
export interface EngineGroup {
  completions: EngineCompletion[];
  /** Answers that are missing. Never filled in, never an empty answer: a group may be smaller than asked for. */
  failures: RolloutFailure[];
}

export interface EngineSampling {
  /** Completions of each prompt. */
  groupSize: number;
  /** End-of-sequence token included. */
  maxNewTokens: number;
  /** Log-probabilities are those at this temperature, over all tokens but those that are never sampled. */
  temperature: number;
  /** One number is taken from it. The local engine's answers depend on it alone; a server's on its numerics too. */
  rng: Rng;
  /** Embeddings of the prompts' pictures, where the trainer has them. A server encodes pictures itself. */
  imageFeatures?: ImageFeatures | undefined;
  /** Ends the sampling; its reason is thrown. */
  signal?: AbortSignal | undefined;
}

/** Where rollouts come from: the trainer's own model, or a server that is given the trainer's adapter. */
export interface RolloutEngine {
  readonly kind: 'local' | 'vllm' | 'sglang';
  /** Of the policy that samples next. */
  readonly version: number;
  /**
   * Groups in the order of the prompts. A failed completion is dropped and listed; what no later try could mend
   * (another tokenizer, processor or chat template; log-probabilities at another temperature; no completion at all)
   * is thrown.
   */
  sample(prompts: readonly EnginePrompt[], sampling: EngineSampling): Promise<EngineGroup[]>;
  /** Samples with these weights from now on. Call it before the first `sample`, and after each update. */
  synchronise(model: VisionLanguageModel, version: number): Promise<void>;
  close(): Promise<void>;
}

/** Counts of a batch of groups under the names of metrics.jsonl; reasons that did not occur have no row. */
export function engineMetrics(groups: readonly EngineGroup[], version: number): Record<string, number> {
  const failures = groups.flatMap((group) => group.failures);
  const completions = groups.flatMap((group) => group.completions);
  const asked = completions.length + failures.length;
  if (asked === 0) return {};
  const metrics: Record<string, number> = { 'rollout/failed': failures.length / asked };
  for (const reason of ROLLOUT_FAILURES) {
    const count = failures.filter((failure) => failure.reason === reason).length;
    if (count > 0) metrics[`rollout/failed/${reason}`] = count / asked;
  }
  if (completions.length > 0) {
    const behind = completions.map((completion) => version - completion.version);
    metrics['rollout/staleness/mean'] = behind.reduce((sum, value) => sum + value, 0) / behind.length;
    metrics['rollout/staleness/max'] = Math.max(...behind);
  }
  return metrics;
}
