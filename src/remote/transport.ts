import type { OpenAI } from 'openai';
import type { Reply } from './chat-reply.ts';
import { readReply } from './chat-reply.ts';
import { Failure, failureOfConnection, failureOfStatus } from './failure.ts';
import { createNodeFetch } from './node-fetch.ts';
import { retryAfterOf } from './retry-delay.ts';

export interface TransportOptions {
  address: string;
  key: string | null;
  timeoutMs: number;
  signal: AbortSignal;
}

export interface Transport {
  /** One try. Throws a Failure, or the signal's reason. */
  send(body: OpenAI.ChatCompletionCreateParamsNonStreaming): Promise<Reply>;
}

const said = (error: { message: string; error: unknown; status?: number | undefined }): string => {
  const inner = (error.error as { message?: unknown } | undefined)?.message ?? error.error;
  if (typeof inner === 'string') return inner;
  if (inner !== undefined && inner !== null) return JSON.stringify(inner);
  return error.message.replace(/^\d{3} /, '').replace('status code (no body)', '');
};

/** The SDK wraps what its fetch throws. */
function failureIn(error: unknown): Failure | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof Failure) return at;
  return undefined;
}

/** The official client, loaded when first used; retries, limits and reading of replies are ours. */
export function createTransport({ address, key, timeoutMs, signal }: TransportOptions): Transport {
  let loading: Promise<{ openai: typeof import('openai'); api: OpenAI }> | undefined;
  const load = async () => {
    const openai = await import('openai');
    const api = new openai.OpenAI({
      baseURL: address,
      apiKey: key ?? 'none',
      // Whatever the environment holds for other programs must not be sent to this server.
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      fetch: createNodeFetch(),
      maxRetries: 0,
      // The limit that counts is the one below: it holds until the last byte.
      timeout: 2 * timeoutMs,
      logLevel: 'off',
      ...(key === null ? { defaultHeaders: { Authorization: null } } : {}),
    });
    return { openai, api };
  };

  const inFlight = new Set<AbortController>();
  signal.addEventListener('abort', () => {
    for (const controller of inFlight) controller.abort();
  });

  return {
    async send(body) {
      loading ??= load();
      const { openai, api } = await loading;
      signal.throwIfAborted();
      const controller = new AbortController();
      let late = false;
      const timer = setTimeout(() => {
        late = true;
        controller.abort();
      }, timeoutMs);
      inFlight.add(controller);
      try {
        const response = await api.chat.completions.create(body, { signal: controller.signal }).asResponse();
        const type = response.headers.get('content-type') ?? '';
        return readReply(await response.text(), type, response.status);
      } catch (error) {
        signal.throwIfAborted();
        const failure = failureIn(error);
        if (failure !== undefined) throw failure;
        if (late) {
          throw new Failure('timeout', `no complete reply within ${timeoutMs} ms`, {
            retryable: true,
            overload: true,
            hint: 'allow more time, ask for fewer tokens, or send less at once',
          });
        }
        if (error instanceof openai.APIError && typeof error.status === 'number') {
          throw failureOfStatus(error.status, said(error), error.code, retryAfterOf(error.headers));
        }
        throw failureOfConnection(error);
      } finally {
        clearTimeout(timer);
        inFlight.delete(controller);
      }
    },
  };
}
