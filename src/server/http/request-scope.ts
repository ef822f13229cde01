import type { Context } from 'hono';
import type { ScoringService } from '../service.ts';
import type { ServerSettings } from '../settings.ts';
import { ApiError } from './api-error.ts';
import type { ByteBudget } from './byte-budget.ts';
import { type HeldBody, readBody } from './read-body.ts';

/** What every route works with. */
export interface RouteContext {
  service: ScoringService;
  settings: ServerSettings;
  budget: ByteBudget;
}

export interface RequestScope {
  /** Aborts with the ApiError that the request then ends with: the client has gone, or the time is up. */
  signal: AbortSignal;
  body: Uint8Array<ArrayBuffer>;
  startedAt: number;
}

/**
 * Reads the body and carries a request out under one signal. The deadline covers the sending of the body as well,
 * so that a client that dribbles holds nothing for long.
 */
export async function withRequest<T>(
  c: Context,
  { settings, budget }: RouteContext,
  work: (scope: RequestScope) => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  const { signal, clear } = requestSignal(c.req.raw.signal, settings.requestTimeoutMs);
  let held: HeldBody | undefined;
  try {
    held = await readBody(c, settings.limits.bodyBytes, budget, signal);
    return await work({ signal, body: held.bytes, startedAt });
  } finally {
    held?.release();
    clear();
  }
}

/** A signal for a request that aborts when its client goes or its time is up. `clear` must be called in the end. */
export function requestSignal(
  client: AbortSignal,
  timeoutMs: number,
): { signal: AbortSignal; clear: () => void } {
  const controller = new AbortController();
  const gone = (): void =>
    controller.abort(new ApiError('CLIENT_CLOSED', 'the client has closed the connection'));
  const timer = setTimeout(() => {
    const seconds = timeoutMs / 1000;
    controller.abort(
      new ApiError('DEADLINE', `there was no answer within ${seconds} s`, {
        hint: 'send fewer pictures at a time, or try again when the server is less busy',
      }),
    );
  }, timeoutMs);
  if (client.aborted) gone();
  else client.addEventListener('abort', gone, { once: true });
  return {
    signal: controller.signal,
    clear: () => {
      clearTimeout(timer);
      client.removeEventListener('abort', gone);
    },
  };
}
