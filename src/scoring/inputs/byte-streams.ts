import { InputError } from '../../core/index.ts';
import { deadlineOf, untilAborted } from './deadline.ts';
import type { InputRules } from './options.ts';

/** A stream of the web platform, as far as it is needed: any ReadableStream of bytes fits. */
export interface WebByteStream {
  getReader(): {
    read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
    cancel(reason?: unknown): Promise<void>;
  };
}

/** A stream of Node, as far as it is needed: any Readable that yields Buffers fits. */
export interface NodeByteStream extends AsyncIterable<unknown> {
  pipe: unknown;
  destroy(): unknown;
}

export const isWebStream = (input: object): input is WebByteStream =>
  typeof (input as Partial<WebByteStream>).getReader === 'function';

export const isNodeStream = (input: object): input is NodeByteStream =>
  typeof (input as Partial<NodeByteStream>).pipe === 'function' &&
  typeof (input as Partial<NodeByteStream>)[Symbol.asyncIterator] === 'function';

interface Source {
  next(): Promise<{ done?: boolean | undefined; value?: unknown }>;
  cancel(): void;
}

function sourceOf(stream: WebByteStream | NodeByteStream): Source {
  if (isWebStream(stream)) {
    const reader = stream.getReader();
    // A stream that fails while it is given up has nothing left to say.
    return { next: () => reader.read(), cancel: () => void reader.cancel().catch(() => undefined) };
  }
  const iterator = stream[Symbol.asyncIterator]();
  return { next: () => iterator.next(), cancel: () => void stream.destroy() };
}

export function tooLarge(name: string, maxBytes: number): InputError {
  return new InputError(`${name} has more than the ${maxBytes} bytes allowed`, {
    hint: 'scale the picture down, or raise input.maxBytes',
  });
}

/**
 * All bytes of a stream. The stream is given up as soon as it is too long, too slow or the signal aborts.
 *
 * InputError for a stream that breaks, that holds no bytes, or beyond a limit; the signal's reason on abort.
 */
export async function readStream(
  stream: WebByteStream | NodeByteStream,
  name: string,
  { maxBytes, timeoutMs }: Pick<InputRules, 'maxBytes' | 'timeoutMs'>,
  caller?: AbortSignal,
): Promise<Buffer> {
  const deadline = deadlineOf(caller, timeoutMs);
  const parts: Uint8Array[] = [];
  let length = 0;
  let source: Source | undefined;
  let ended = false;
  try {
    source = sourceOf(stream);
    for (;;) {
      const { done, value } = await untilAborted(source.next(), deadline.signal);
      if (done) break;
      if (!(value instanceof Uint8Array)) {
        throw new InputError(`${name} yields ${typeof value}s, bytes were expected`, {
          hint: 'give a stream of Buffers or Uint8Arrays, without an encoding',
        });
      }
      length += value.length;
      if (length > maxBytes) throw tooLarge(name, maxBytes);
      parts.push(value);
    }
    ended = true;
  } catch (error) {
    if (error instanceof InputError || caller?.aborted) throw error;
    if (deadline.expired) {
      throw new InputError(`${name} was not complete after ${timeoutMs} ms`, {
        hint: 'send it faster, or raise input.timeoutMs',
      });
    }
    throw new InputError(`${name} broke off: ${error instanceof Error ? error.message : String(error)}`, {
      hint: 'a stream can be read once only; open it again',
      cause: error,
    });
  } finally {
    deadline.clear();
    if (!ended) source?.cancel();
  }
  return Buffer.concat(parts, length);
}
