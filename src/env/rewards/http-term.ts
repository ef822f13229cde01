import {
  createNodeFetch,
  Failure,
  failureOfConnection,
  failureOfStatus,
  keyOf,
  retryAfterOf,
} from '../../remote/index.ts';
import { type Caller, CallFailure, type CallValue } from './call.ts';
import type { HttpTermConfig } from './config.ts';
import { nameOfValue, readScores } from './scores.ts';
import type { RewardSample } from './types.ts';

/** Scores of the largest batch, and what a server logs beside them. */
const LARGEST_REPLY = 16 * 1024 * 1024;
/** An error page may be long; the message of it is short. */
const LONGEST_ERROR = 2000;

/** Both forms of the protocol: what is sent, and under which name the scores come back. */
const PROTOCOLS: Record<
  HttpTermConfig['protocol'],
  { scores: string; body(samples: readonly RewardSample[]): object }
> = {
  /** As a `remote_rm_url` of OpenRLHF: query is question and answer in one, labels are texts. */
  openrlhf: {
    scores: 'rewards',
    body: (samples) => ({
      query: samples.map(({ prompt, completion }) => prompt + completion),
      prompts: samples.map(({ prompt }) => prompt),
      labels: samples.map(({ mos }) => String(mos)),
    }),
  },
  simple: {
    scores: 'scores',
    body: (samples) => ({
      queries: samples.map(({ prompt }) => prompt),
      responses: samples.map(({ completion }) => completion),
      samples: samples.map(({ prompt: _prompt, completion: _completion, ...rest }) => rest),
    }),
  },
};

function scoresIn(text: string, field: string, expected: number): CallValue[] {
  let reply: unknown;
  try {
    reply = JSON.parse(text);
  } catch {
    const why = /\b(?:NaN|Infinity)\b/.test(text)
      ? 'it holds NaN or Infinity, which JSON has not'
      : 'it is no JSON';
    throw new CallFailure(`the reply cannot be read: ${why}`);
  }
  if (typeof reply !== 'object' || reply === null || !Object.hasOwn(reply, field)) {
    throw new CallFailure(`the reply is ${nameOfValue(reply)} without the list "${field}"`);
  }
  try {
    return readScores((reply as Record<string, unknown>)[field], expected);
  } catch (error) {
    throw new CallFailure(`"${field}" of the reply: ${(error as Error).message}`);
  }
}

/** Rewards from a server: one POST of JSON for each batch. */
export function createHttpCaller(config: HttpTermConfig, apiKey: string | undefined): Caller {
  const { url, batchSize, deadlineSeconds } = config;
  const { scores, body } = PROTOCOLS[config.protocol];
  const key = keyOf({ apiKey });
  const post = createNodeFetch(LARGEST_REPLY);
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
  };
  const inFlight = new Set<AbortController>();

  const failed = (failure: Failure): CallFailure => {
    const { message, said, status, retryable, retryAfterMs } = failure;
    const code = status === undefined || status < 300 ? '' : ` (HTTP ${status})`;
    return new CallFailure(`${url}: ${message}${code}${said ? `, the server said "${said}"` : ''}`, {
      retryable,
      retryAfterMs,
      stalled: failure.reason === 'unreachable' || failure.overload,
    });
  };

  return {
    batchSize,
    async call(samples) {
      const controller = new AbortController();
      let late = false;
      const timer = setTimeout(() => {
        late = true;
        controller.abort();
      }, 1000 * deadlineSeconds);
      inFlight.add(controller);
      try {
        const response = await post(url, {
          method: 'POST',
          headers,
          body: JSON.stringify(body(samples)),
          signal: controller.signal,
        });
        const text = await response.text();
        if (!response.ok) {
          throw failureOfStatus(
            response.status,
            text.slice(0, LONGEST_ERROR),
            undefined,
            retryAfterOf(response.headers),
          );
        }
        return scoresIn(text, scores, samples.length);
      } catch (error) {
        if (error instanceof CallFailure) throw error;
        if (late) {
          throw new CallFailure(`${url}: no complete reply within ${deadlineSeconds} s`, { kind: 'timeout' });
        }
        throw failed(error instanceof Failure ? error : failureOfConnection(error));
      } finally {
        clearTimeout(timer);
        inFlight.delete(controller);
      }
    },
    async close() {
      for (const controller of inFlight) controller.abort();
    },
  };
}
