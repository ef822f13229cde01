import { setTimeout as sleep } from 'node:timers/promises';
import {
  addressOf,
  backOff,
  createNodeFetch,
  Failure,
  failureOfConnection,
  failureOfStatus,
  keyOf,
  retryAfterOf,
} from '../../remote/index.ts';
import type { ServerEngineConfig } from './config.ts';
import type { ServerRequest } from './server-protocol.ts';
import { StallWatch } from './stall-watch.ts';

type ClientConfig = Pick<
  ServerEngineConfig,
  'baseUrl' | 'timeoutSeconds' | 'stallSeconds' | 'retries' | 'firstDelaySeconds'
>;

/** Longest wait that a server may ask for before the next try. */
const LONGEST_WAIT_MS = 60_000;

/**
 * JSON requests to one server: each with a deadline that holds to the last byte, ended early when the server stops
 * answering at all, and tried again after what may pass. What is left after the last try is a `Failure`.
 */
export class ServerClient {
  readonly address: string;
  readonly #config: ClientConfig;
  readonly #key: string | null;
  readonly #fetch = createNodeFetch();
  readonly #watch: StallWatch;

  constructor(config: ClientConfig, apiKey: string | undefined) {
    this.#config = config;
    // Both servers keep generation and administration side by side at their root.
    this.address = addressOf(config).replace(/\/v1$/, '');
    this.#key = keyOf({ apiKey });
    this.#watch = new StallWatch(config.stallSeconds * 1000, (signal) => this.#isAlive(signal));
  }

  /**
   * What `read` makes of the JSON of a reply of status 2xx; a Failure that it throws is one of this try.
   *
   * @param read default: the reply is not looked at, and may be of any kind
   */
  async post<T = undefined>(
    request: ServerRequest,
    { signal, read }: { signal: AbortSignal; read?: (json: unknown) => T },
  ): Promise<T> {
    const body = JSON.stringify(request.body);
    const { retries, firstDelaySeconds } = this.#config;
    for (let retry = 0; ; retry++) {
      signal.throwIfAborted();
      try {
        const text = await this.#once(request.path, body, signal);
        return read === undefined ? (undefined as T) : read(jsonOf(text));
      } catch (error) {
        if (!(error instanceof Failure) || !error.retryable || retry >= retries) throw error;
        const wait = Math.max(backOff(retry, firstDelaySeconds * 1000), error.retryAfterMs ?? 0);
        await sleep(Math.min(wait, LONGEST_WAIT_MS), undefined, { signal }).catch(() => {
          signal.throwIfAborted();
        });
      }
    }
  }

  async #once(path: string, body: string, signal: AbortSignal): Promise<string> {
    const { timeoutSeconds } = this.#config;
    const stop = new AbortController();
    const cancel = (): void => stop.abort(signal.reason);
    signal.addEventListener('abort', cancel, { once: true });
    const timer = setTimeout(() => {
      stop.abort(
        new Failure('timeout', `no complete reply within ${timeoutSeconds} s`, {
          retryable: true,
          hint: 'raise timeoutSeconds, or lower concurrency so that the server has less to do at once',
        }),
      );
    }, timeoutSeconds * 1000);
    const forget = this.#watch.add(stop);
    try {
      const response = await this.#fetch(`${this.address}${path}`, {
        method: 'POST',
        headers: this.#headers(),
        body,
        signal: stop.signal,
      });
      const text = await response.text();
      if (!response.ok)
        throw failureOfStatus(response.status, saidIn(text), undefined, retryAfterOf(response.headers));
      return text;
    } catch (error) {
      if (stop.signal.aborted) throw stop.signal.reason;
      throw error instanceof Failure ? error : failureOfConnection(error);
    } finally {
      forget();
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
    }
  }

  /** Any answer will do: a server that says it is unwell is not stalled, and fails the requests itself. */
  async #isAlive(signal: AbortSignal): Promise<void> {
    const response = await this.#fetch(`${this.address}/health`, { headers: this.#headers(), signal });
    await response.text();
  }

  #headers(): Record<string, string> {
    return {
      'content-type': 'application/json',
      ...(this.#key === null ? {} : { authorization: `Bearer ${this.#key}` }),
    };
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Failure('malformed', `the reply is no JSON: ${(error as Error).message}`, {
      retryable: true,
      said: text.slice(0, 200),
    });
  }
}

/** The message in an error reply; vLLM and SGLang write it in several places. */
function saidIn(text: string): string {
  try {
    const json = JSON.parse(text) as Record<string, unknown> | null;
    const inner = json?.error as { message?: unknown } | string | undefined;
    const said = [
      typeof inner === 'object' ? inner?.message : inner,
      json?.error_message,
      json?.message,
      json?.detail,
    ];
    return said.find((value): value is string => typeof value === 'string') ?? text;
  } catch {
    return text; // An error page of a proxy.
  }
}
