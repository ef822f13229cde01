import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError, RemoteError } from '../core/index.ts';
import { Account, type Estimate } from './account.ts';
import { chatBody, estimateTokens } from './chat-body.ts';
import type { Reply } from './chat-reply.ts';
import type { ChatAnswer, ChatClient, ChatClientOptions, ChatEndpoint, ChatRequest } from './chat-types.ts';
import { addressOf, keyOf, quoter } from './endpoint.ts';
import { Failure } from './failure.ts';
import { Gate } from './gate.ts';
import { backOff } from './retry-delay.ts';
import { createTransport } from './transport.ts';

const LIMITS = {
  concurrency: { low: 1, high: 1024 },
  timeoutMs: { low: 1, high: 86_400_000 },
  retries: { low: 0, high: 100 },
  requestsPerMinute: { low: 1, high: 1e9 },
  tokensPerMinute: { low: 1, high: 1e12 },
  firstDelayMs: { low: 0, high: 60_000 },
  maxRetryAfterMs: { low: 0, high: 86_400_000 },
} as const;

function checkOptions(options: ChatClientOptions): void {
  for (const [name, { low, high }] of Object.entries(LIMITS)) {
    const value = options[name as keyof typeof LIMITS];
    if (value === undefined || (Number.isInteger(value) && value >= low && value <= high)) continue;
    throw new ConfigError(`the chat client's ${name} is ${value}`, {
      hint: `allowed is a whole number from ${low} to ${high}`,
    });
  }
  const money = { ...options.prices, ...options.budget };
  for (const [name, value] of Object.entries(money)) {
    if (value === undefined || value >= 0) continue;
    throw new ConfigError(`a price or budget of the chat client, ${name}, is ${value}`, {
      hint: 'allowed is 0 or more',
    });
  }
  if (options.budget?.cost !== undefined && options.prices === undefined) {
    throw new ConfigError('the chat client has a budget of cost and no prices', {
      hint: 'give the prices of a million prompt and completion tokens, or a budget of tokens',
    });
  }
}

/**
 * A client of one model behind an OpenAI-compatible address (vLLM, SGLang, Ollama, DashScope, OpenRouter, ...).
 * Safe to call from many places at once: limits and budget hold for all of them together.
 *
 * @throws ConfigError for an impossible address, key or option
 */
export function createChatClient(endpoint: ChatEndpoint, options: ChatClientOptions = {}): ChatClient {
  checkOptions(options);
  const { model } = endpoint;
  if (model.trim() === '')
    throw new ConfigError('the chat client has no model', { hint: 'name the model to ask' });
  const address = addressOf(endpoint);
  const key = keyOf(endpoint);
  const quote = quoter(key);
  const { concurrency = 8, timeoutMs = 120_000, retries = 5, firstDelayMs = 500, signal, onTry } = options;
  const maxRetryAfterMs = options.maxRetryAfterMs ?? 300_000;
  const account = new Account(options.prices, options.budget);
  const gate = new Gate({ ...options, concurrency });
  // One listener on the caller's signal, however many requests wait.
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  signal?.addEventListener(
    'abort',
    () => {
      stop.abort(signal.reason);
      gate.refuseAll(signal.reason);
    },
    { once: true },
  );
  const transport = createTransport({ address, key, timeoutMs, signal: stop.signal });

  const remoteError = (failure: Failure, tries: number): RemoteError => {
    const status = failure.status === undefined || failure.status < 300 ? '' : ` (HTTP ${failure.status})`;
    const words = quote(failure.said ?? '');
    const said = words === '' ? '' : `, the server said "${words}"`;
    const times = tries > 1 ? ` after ${tries} tries` : '';
    return new RemoteError(`${address}, model ${model}: ${quote(failure.message)}${status}${said}${times}`, {
      reason: failure.reason,
      status: failure.status,
      ...(failure.hint === undefined ? {} : { hint: failure.hint }),
    });
  };

  const verdict = (estimate: Estimate): 'yes' | 'wait' | Error => {
    const answer = account.admits(estimate);
    if (typeof answer === 'string') return answer;
    return new RemoteError(`${address}, model ${model}: ${answer.refused}`, {
      reason: 'budget',
      hint: 'raise the budget and give the same command again: what was answered is kept',
    });
  };

  /** One HTTP request in its turn. */
  async function attempt(send: () => Promise<Reply>, estimate: Estimate, again: boolean): Promise<Reply> {
    stop.signal.throwIfAborted();
    let settle: ReturnType<Account['begin']> | undefined;
    const admission = {
      verdict: () => verdict(estimate),
      begin: () => {
        settle = account.begin(estimate);
      },
    };
    const pass = await gate.enter(estimate.prompt + estimate.completion, admission, again);
    const start = performance.now();
    let reply: Reply | undefined;
    let failure: Failure | undefined;
    try {
      reply = await send();
      account.sawReply(reply.id, reply.tokens);
      for (const { reason } of reply.dropped) account.sawFailure(reason);
      if (reply.answers.length === 0) throw reply.dropped[0];
      pass.speedUp();
      return reply;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failure = error;
      if (reply === undefined) account.sawFailure(error.reason);
      if (error.overload) pass.slowDown(Math.min(error.retryAfterMs ?? 0, maxRetryAfterMs));
      throw error;
    } finally {
      const tokens = reply?.tokens;
      settle?.(tokens);
      pass.leave(tokens && tokens.prompt + tokens.completion);
      const milliseconds = performance.now() - start;
      onTry?.({ reason: failure?.reason, status: failure?.status, milliseconds, tokens });
    }
  }

  async function persist(send: () => Promise<Reply>, estimate: Estimate): Promise<Reply> {
    for (let retry = 0; ; retry++) {
      try {
        return await attempt(send, estimate, retry > 0);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        const asked = error.retryAfterMs;
        if (!error.retryable || retry >= retries || (asked ?? 0) > maxRetryAfterMs) {
          throw remoteError(error, retry + 1);
        }
        account.counts.retries++;
        await sleep(Math.max(asked ?? 0, backOff(retry, firstDelayMs)), undefined, { signal: stop.signal });
      }
    }
  }

  async function ask(request: ChatRequest): Promise<ChatAnswer[]> {
    signal?.throwIfAborted();
    const body = chatBody(model, request, options.maxTokensField ?? 'max_tokens');
    const wanted = request.n ?? 1;
    const answers: ChatAnswer[] = [];
    while (answers.length < wanted) {
      const missing = wanted - answers.length;
      // The same seed again would bring the same answers again.
      const seed = request.seed === undefined ? undefined : request.seed + answers.length;
      const reply = await persist(
        () => transport.send(body(missing, seed)),
        estimateTokens(request, missing),
      );
      answers.push(...reply.answers.slice(0, missing));
    }
    return answers;
  }

  return {
    address,
    model,
    async ask(request) {
      account.counts.asked++;
      try {
        const answers = await ask(request);
        account.counts.answered++;
        return answers;
      } catch (error) {
        account.counts.failed++;
        // Timers of Node answer an abort with an error of their own.
        if (signal?.aborted) throw signal.reason;
        throw error;
      }
    },
    usage: () => account.usage(gate.concurrency),
  };
}
