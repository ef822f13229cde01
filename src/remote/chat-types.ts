import type { RemoteReason } from '../core/index.ts';

/** An OpenAI-compatible server: its address up to and without `/chat/completions`, a model, a key if it wants one. */
export interface ChatEndpoint {
  /** For example `http://127.0.0.1:8000/v1`. */
  baseUrl: string;
  model: string;
  /** Kept out of errors, logs and everything that can be printed. */
  apiKey?: string | undefined;
}

export type ChatPart =
  | { type: 'text'; text: string }
  /** A data URL (see `imageDataUrl`) or an address that the server can fetch. */
  | { type: 'image'; url: string; detail?: 'low' | 'high' | 'auto' | undefined };

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string | readonly ChatPart[];
}

export interface ChatRequest {
  messages: readonly ChatMessage[];
  temperature?: number | undefined;
  topP?: number | undefined;
  /** Most tokens of each answer. */
  maxTokens?: number | undefined;
  /** Sent as it is; few servers promise more than their best. */
  seed?: number | undefined;
  /** Answers wanted, default 1. A server that gives fewer at once is asked again for the rest. */
  n?: number | undefined;
  logprobs?: boolean | undefined;
  /** Alternatives for each token, 0 to 20. Implies `logprobs`. */
  topLogprobs?: number | undefined;
  stop?: string | readonly string[] | undefined;
  /** Fields of one server's own, sent as they are, for example `{ chat_template_kwargs: {...} }`. */
  extra?: Readonly<Record<string, unknown>> | undefined;
}

export interface TokenLogprob {
  token: string;
  logprob: number;
  /** The likeliest tokens at this place, as many as were asked for. */
  top: { token: string; logprob: number }[];
}

export interface ReplyTokens {
  prompt: number;
  /** Of the prompt tokens, those that the server had cached. */
  cachedPrompt: number;
  /** Of all choices of the reply together. */
  completion: number;
}

export interface ChatAnswer {
  /** Never blank: a reply without text is an error. */
  text: string;
  /** 'stop', 'length', or whatever else the server calls it; 'unknown' when it does not say. */
  finishReason: string;
  /** What a reasoning model thought, where the server keeps that apart from the text. */
  reasoning?: string;
  /** Tokens of the whole reply that this answer came in, and how many answers share them. */
  usage?: ReplyTokens & { choices: number };
  logprobs?: TokenLogprob[];
  /** The model that the server says it used. */
  model?: string;
}

/** Price of a million tokens, in whatever currency the budget is in. */
export interface TokenPrices {
  prompt: number;
  completion: number;
  /** Default: as other prompt tokens. */
  cachedPrompt?: number | undefined;
}

/**
 * What may be spent. A request whose estimate does not fit any more is not sent and fails with the reason
 * 'budget', as does every later one; requests in flight are finished. Tokens of failed tries, which no server
 * reports, are not counted.
 */
export interface ChatBudget {
  /** Needs `prices`. */
  cost?: number | undefined;
  /** Prompt and completion tokens together. */
  tokens?: number | undefined;
  /** HTTP requests, failed tries included. */
  requests?: number | undefined;
}

/** One HTTP request, after it. For logs and progress; holds neither key nor content. */
export interface ChatTry {
  /** Undefined: it succeeded. */
  reason: RemoteReason | undefined;
  status: number | undefined;
  milliseconds: number;
  tokens: ReplyTokens | undefined;
}

export interface ChatClientOptions {
  /** Requests in flight at most, default 8. Fewer while the server is overloaded. */
  concurrency?: number | undefined;
  /** Time of one try until its last byte, default 120,000 ms. */
  timeoutMs?: number | undefined;
  /** Tries after the first one, default 5. */
  retries?: number | undefined;
  requestsPerMinute?: number | undefined;
  /** Prompt and completion tokens that may be started per minute: estimated first, then corrected. */
  tokensPerMinute?: number | undefined;
  /** Waiting time before the first retry without Retry-After, doubled each time up to 60 s; default 500 ms. */
  firstDelayMs?: number | undefined;
  /** A server that asks for a longer wait than this is given up, default 300,000 ms. */
  maxRetryAfterMs?: number | undefined;
  prices?: TokenPrices | undefined;
  budget?: ChatBudget | undefined;
  /** The field for `maxTokens`: 'max_tokens' (default) is known to most servers, some want the other. */
  maxTokensField?: 'max_tokens' | 'max_completion_tokens' | undefined;
  /** Aborts what is in flight and waiting; `ask` then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  onTry?: ((attempt: ChatTry) => void) | undefined;
}

/** Counts since the client was made. Plain numbers: safe to write to a report. */
export interface ChatUsage {
  /** Calls of `ask`. */
  asked: number;
  answered: number;
  failed: number;
  /** HTTP requests, retries included. */
  requests: number;
  retries: number;
  /** Failed tries by reason, those that a later try mended included. */
  failures: Partial<Record<RemoteReason, number>>;
  promptTokens: number;
  cachedPromptTokens: number;
  completionTokens: number;
  /** Replies whose tokens the server did not report: the sums above lack them. */
  repliesWithoutUsage: number;
  /** By the prices given; null without prices. */
  cost: number | null;
  /** Replies that bear the id of an earlier reply: a cache in between may be answering. */
  repeatedIds: number;
  /** Requests in flight that are allowed at present. */
  concurrency: number;
}

export interface ChatClient {
  readonly address: string;
  readonly model: string;
  /**
   * The answers, as many as `n`.
   *
   * @throws RemoteError with a reason when there are none, ConfigError when the request itself is impossible
   */
  ask(request: ChatRequest): Promise<ChatAnswer[]>;
  usage(): ChatUsage;
}
