import type { Context } from 'hono';
import { ApiError } from './api-error.ts';
import type { ByteBudget } from './byte-budget.ts';

/** The bytes of a request, and what to call when they are no longer needed. */
export interface HeldBody {
  bytes: Uint8Array<ArrayBuffer>;
  release(): void;
}

function tooLarge(limit: number): ApiError {
  return new ApiError('TOO_LARGE', `the request has more than the ${limit} bytes allowed`, {
    hint: 'send fewer or smaller pictures',
  });
}

/** Reads a body up to `limit` bytes, whatever its Content-Length claims, within the budget of all requests. */
export async function readBody(
  { req }: Pick<Context, 'req'>,
  limit: number,
  budget: ByteBudget,
  signal: AbortSignal,
): Promise<HeldBody> {
  const encoding = req.header('content-encoding');
  if (encoding !== undefined && encoding !== 'identity') {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'compressed request bodies are not read', {
      hint: 'send the body without Content-Encoding; pictures are compressed already',
    });
  }
  const claimed = Number(req.header('content-length') ?? 0);
  if (claimed > limit) throw tooLarge(limit);
  let held = 0;
  const release = (): void => {
    budget.release(held);
    held = 0;
  };
  const parts: Uint8Array[] = [];
  const reader = req.raw.body?.getReader();
  const stop = (): void => void reader?.cancel().catch(() => undefined);
  signal.addEventListener('abort', stop, { once: true });
  try {
    while (reader !== undefined) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) break;
      if (held + value.byteLength > limit) throw tooLarge(limit);
      budget.take(value.byteLength);
      held += value.byteLength;
      parts.push(value);
    }
    return { bytes: joined(parts, held), release };
  } catch (error) {
    release();
    stop();
    signal.throwIfAborted();
    if (error instanceof ApiError) throw error;
    throw new ApiError('BAD_REQUEST', 'the request broke off before its end', { hint: 'send it again' });
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Never a part of Node's pool: the buffer is handed to another thread as a whole. */
function joined(parts: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.byteLength;
  }
  return bytes;
}

/** A JSON body. BAD_REQUEST where it is none; its content is not repeated. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new ApiError('BAD_REQUEST', 'the body is not JSON', {
      hint: 'send UTF-8 JSON with the header Content-Type: application/json',
    });
  }
}

/** Fields of a multipart body. BAD_REQUEST where it is none. */
export async function parseMultipart(bytes: Uint8Array<ArrayBuffer>, contentType: string): Promise<FormData> {
  try {
    return await new Response(bytes, { headers: { 'content-type': contentType } }).formData();
  } catch {
    throw new ApiError('BAD_REQUEST', 'the body is not multipart/form-data', {
      hint: 'let the client set the header Content-Type, with its boundary',
    });
  }
}
