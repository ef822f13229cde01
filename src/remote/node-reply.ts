import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

/** The headers of a reply, as much of `Headers` as its readers use. Names are in lower case, as node:http gives them. */
class ReplyHeaders {
  readonly #headers: IncomingHttpHeaders;

  constructor(headers: IncomingHttpHeaders) {
    this.#headers = headers;
  }

  get(name: string): string | null {
    const key = name.toLowerCase();
    const value = Object.hasOwn(this.#headers, key) ? this.#headers[key] : undefined;
    return value === undefined ? null : Array.isArray(value) ? value.join(', ') : value;
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }

  *entries(): IterableIterator<[string, string]> {
    for (const name of Object.keys(this.#headers)) yield [name, this.get(name) ?? ''];
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }

  forEach(visit: (value: string, name: string) => void): void {
    for (const [name, value] of this.entries()) visit(value, name);
  }
}

const BYTE_ORDER_MARK = '\uFEFF';

/**
 * A whole reply as a `Response`. Building a real one costs several times what sending a short question does; this
 * one has what a client of texts reads: status, headers, `text` and `json`. There is no stream in `body`.
 */
export function wholeReply(message: IncomingMessage, url: string, bytes: Buffer): Response {
  const status = message.statusCode ?? 0;
  const text = (): string => {
    const all = bytes.toString('utf8');
    return all.startsWith(BYTE_ORDER_MARK) ? all.slice(1) : all;
  };
  const reply = {
    ok: status >= 200 && status < 300,
    status,
    statusText: message.statusMessage ?? '',
    url,
    redirected: false,
    type: 'basic' as const,
    headers: new ReplyHeaders(message.headers),
    body: null,
    bodyUsed: false,
    text: async () => text(),
    json: async () => JSON.parse(text()) as unknown,
    arrayBuffer: async () => Uint8Array.from(bytes).buffer,
  };
  return reply as unknown as Response;
}

/** A reply that is read as it comes: a real `Response` around the stream. */
export function streamedReply(message: IncomingMessage, decoded: Readable): Response {
  const headers = [...new ReplyHeaders(message.headers).entries()];
  const status = message.statusCode ?? 0;
  return new Response(Readable.toWeb(decoded) as ReadableStream<Uint8Array>, { status, headers });
}
