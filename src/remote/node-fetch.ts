import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { decodeStream, decodeWhole, tooLarge } from './content-encoding.ts';
import { streamedReply, wholeReply } from './node-reply.ts';

/** A thousand answers of the longest kind, with logprobs. */
const LARGEST_REPLY = 128 * 1024 * 1024;

const isEventStream = ({ headers }: IncomingMessage): boolean =>
  /^text\/event-stream\b/i.test(headers['content-type'] ?? '');

/** Collects the body of a reply. Never more than `limit` bytes of it are held. */
function wholeBody(message: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    message.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) message.destroy(tooLarge(limit, message.statusCode ?? 0));
      else chunks.push(chunk);
    });
    message.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    message.on('error', reject);
    message.on('close', () => {
      // After 'end' or 'error' this changes nothing.
      reject(Object.assign(new Error('the connection broke inside the reply'), { code: 'ECONNRESET' }));
    });
  });
}

async function replyOf(message: IncomingMessage, url: string, limit: number): Promise<Response> {
  const encoding = message.headers['content-encoding'];
  const status = message.statusCode ?? 0;
  if (isEventStream(message)) return streamedReply(message, decodeStream(message, encoding, status));
  const bytes = await wholeBody(message, limit);
  return wholeReply(
    message,
    url,
    encoding === undefined ? bytes : await decodeWhole(bytes, encoding, status, limit),
  );
}

function bodyOf(body: RequestInit['body']): string | Uint8Array | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  throw new TypeError('this fetch sends texts and bytes alone');
}

/**
 * `fetch` over node:http with connections kept open, for texts sent and whole replies received (event streams come as
 * streams). It needs about a quarter of the processor time of the fetch of Node, which is what limits thousands of
 * short questions. It has no time limits of its own: `signal` ends it, until the last byte. Redirects are not
 * followed, whatever `redirect` says: a key belongs to one address, and 3xx is a status like another. A reply of more
 * than `largestReply` bytes, before or after decoding, is a Failure.
 */
export function createNodeFetch(largestReply: number = LARGEST_REPLY): typeof fetch {
  const agents = {
    'http:': new HttpAgent({ keepAlive: true, maxFreeSockets: 1024 }),
    'https:': new HttpsAgent({ keepAlive: true, maxFreeSockets: 1024 }),
  };
  // A client asks one or two addresses, thousands of times.
  const targets = new Map<string, { secure: boolean; options: RequestOptions }>();
  const targetOf = (url: string) => {
    const known = targets.get(url);
    if (known !== undefined) return known;
    const parsed = new URL(url);
    const { protocol } = parsed;
    if (protocol !== 'http:' && protocol !== 'https:')
      throw new TypeError(`cannot ask an address of ${protocol}`);
    const made = {
      secure: protocol === 'https:',
      options: { ...urlToHttpOptions(parsed), agent: agents[protocol] },
    };
    if (targets.size < 16) targets.set(url, made);
    return made;
  };

  return (input, init = {}) =>
    new Promise((resolve, reject) => {
      const url = input instanceof Request ? input.url : String(input);
      const { secure, options } = targetOf(url);
      const { signal, method = 'GET' } = init;
      signal?.throwIfAborted();
      const body = bodyOf(init.body);
      const headers = Object.fromEntries(
        init.headers instanceof Headers ? init.headers : new Headers(init.headers),
      );
      const request = (secure ? httpsRequest : httpRequest)({ ...options, method, headers });
      const abort = (): void => {
        const { reason } = signal as AbortSignal;
        request.destroy(reason instanceof Error ? reason : new DOMException(String(reason), 'AbortError'));
      };
      signal?.addEventListener('abort', abort, { once: true });
      request.on('error', reject);
      request.on('upgrade', (_message, socket) => {
        socket.destroy();
        reject(Object.assign(new Error('the server changes the protocol'), { code: 'ECONNRESET' }));
      });
      request.on('close', () => signal?.removeEventListener('abort', abort));
      request.on('response', (message) => {
        replyOf(message, url, largestReply).then(resolve, (error: unknown) => {
          request.destroy();
          reject(error);
        });
      });
      request.end(body);
    });
}
