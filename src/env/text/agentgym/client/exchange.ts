import {
  createNodeFetch,
  Failure,
  failureOfConnection,
  failureOfStatus,
  retryAfterOf,
} from '../../../../remote/index.ts';
import type { JsonObject } from './protocol.ts';

/** A page of a web shop has some 100 kB. */
const LARGEST_REPLY = 16 * 1024 * 1024;

export interface Request {
  method: 'GET' | 'POST';
  /** From the root of the server, with the query. */
  path: string;
  /** null for a POST without a body. */
  body?: JsonObject | null;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** The reply as JSON. Throws a Failure, or the signal's reason. */
export type Exchange = (request: Request) => Promise<unknown>;

const BROKEN = Symbol('no JSON');

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return BROKEN;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What a server says of an error: AgentGym's `error`, FastAPI's `detail`, or the text itself. */
function saidIn(value: unknown, text: string): string | undefined {
  if (isObject(value)) {
    const said = value.error ?? value.detail ?? value;
    return typeof said === 'string' ? said : JSON.stringify(said);
  }
  return text === '' ? undefined : text;
}

/** Words with which a server answers 200 and tells of an error: an `error`, or WebArena's bare "TimeoutError". */
function errorIn(value: unknown): string | undefined {
  if (value === 'TimeoutError') return value;
  if (!isObject(value) || !Object.hasOwn(value, 'error')) return undefined;
  return typeof value.error === 'string' ? value.error : JSON.stringify(value.error);
}

function readReply(response: Response, text: string): unknown {
  const value = parsed(text);
  if (!response.ok) {
    const code = isObject(value) ? value.code : undefined;
    throw failureOfStatus(response.status, saidIn(value, text), code, retryAfterOf(response.headers));
  }
  const { status } = response;
  if (value === BROKEN) {
    throw new Failure('malformed', 'the reply is no JSON, or a part of it', {
      retryable: true,
      status,
      said: text,
    });
  }
  const said = errorIn(value);
  if (said !== undefined) {
    throw new Failure('server', 'the reply tells of an error', { retryable: true, status, said });
  }
  return value;
}

/** Requests to one server over connections that are kept open. */
export function createExchange(address: string): Exchange {
  const fetch = createNodeFetch(LARGEST_REPLY);
  return async ({ method, path, body = null, timeoutMs, signal }) => {
    signal?.throwIfAborted();
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    signal?.addEventListener('abort', abort, { once: true });
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      controller.abort();
    }, timeoutMs);
    try {
      const response = await fetch(`${address}${path}`, {
        method,
        signal: controller.signal,
        headers: body === null ? {} : { 'content-type': 'application/json' },
        ...(body === null ? {} : { body: JSON.stringify(body) }),
      });
      return readReply(response, await response.text());
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof Failure) throw error;
      if (late) {
        throw new Failure('timeout', `no complete reply within ${timeoutMs} ms`, { retryable: true });
      }
      throw failureOfConnection(error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  };
}
