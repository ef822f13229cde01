import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface SeenRequest {
  // biome-ignore lint/suspicious/noExplicitAny: what came over the wire, read freely by assertions
  body: any;
  headers: IncomingHttpHeaders;
  path: string;
  at: number;
  /** Of the client: tells its connections apart. */
  port: number | undefined;
}

export type Handler = (request: SeenRequest, response: ServerResponse) => void | Promise<void>;

export interface ChatServer {
  /** Up to and without /chat/completions. */
  baseUrl: string;
  requests: SeenRequest[];
  /** Most requests that were open at one time. */
  mostOpen(): number;
}

/**
 * A real HTTP server on a free port of this machine. Request k gets handler k, the ones after the last handler
 * get the last.
 */
export async function startChatServer(...handlers: Handler[]): Promise<ChatServer> {
  const requests: SeenRequest[] = [];
  let open = 0;
  let mostOpen = 0;
  const server = createServer((incoming, response) => {
    mostOpen = Math.max(mostOpen, ++open);
    response.on('close', () => open--);
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
      const { headers, url: path = '' } = incoming;
      const seen = { body, headers, path, at: performance.now(), port: incoming.socket.remotePort };
      const handler = handlers[Math.min(requests.length, handlers.length - 1)];
      requests.push(seen);
      void handler?.(seen, response);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}/v1`, requests, mostOpen: () => mostOpen };
}

export interface CompletionParts {
  texts?: readonly (string | null)[];
  id?: string;
  usage?: object | null;
  finishReason?: string;
}

/** A chat completion as vLLM writes it: 100 prompt tokens and 10 tokens for each choice. */
export function completion({
  texts = ['fine'],
  id = 'chatcmpl-1',
  usage,
  finishReason = 'stop',
}: CompletionParts = {}) {
  const choices = texts.map((content, index) => ({
    index,
    message: { role: 'assistant', content },
    finish_reason: finishReason,
  }));
  const counted = {
    prompt_tokens: 100,
    completion_tokens: 10 * texts.length,
    total_tokens: 100 + 10 * texts.length,
  };
  return {
    id,
    object: 'chat.completion',
    created: 1,
    model: 'served',
    choices,
    usage: usage === undefined ? counted : usage,
  };
}

export const json =
  (value: unknown, status = 200, headers: Record<string, string> = {}): Handler =>
  (_request, response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(value));

export const answer = (parts?: CompletionParts): Handler => json(completion(parts));

export const text =
  (body: string, contentType: string, status = 200): Handler =>
  (_request, response) =>
    void response.writeHead(status, contentType === '' ? {} : { 'content-type': contentType }).end(body);

export const delayed =
  (milliseconds: number, handler: Handler): Handler =>
  (request, response) =>
    void setTimeout(() => void handler(request, response), milliseconds);

/** Takes the request and never says anything. */
export const stall: Handler = () => undefined;

/** Sends headers and half of a reply, then nothing. */
export const stallInside: Handler = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).write('{"id": "chatcmpl-1", "choi');
};

/** Breaks the connection without a reply. */
export const reset: Handler = (_request, response) => void response.destroy();

/** Breaks the connection inside the reply. */
export const resetInside: Handler = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' });
  response.write('{"id": "chatcmpl-1", ', () => response.destroy());
};
