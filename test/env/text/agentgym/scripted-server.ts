import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a server does with one request: a JSON value to send with status 200, or anything done by hand. */
export type Answer =
  | { json: unknown; status?: number; headers?: Record<string, string> }
  | ((request: IncomingMessage, response: ServerResponse) => void);

export interface SeenRequest {
  /** "POST /step", with the query. */
  line: string;
  /** The parsed body; null where there was none. */
  body: unknown;
}

export interface ScriptedServer {
  url: string;
  seen: SeenRequest[];
  close(): Promise<void>;
}

/** A server that asks `script` for the answer to each request, by its line and number from 0. */
export async function scriptedServer(
  script: (line: string, body: unknown, nth: number) => Answer,
): Promise<ScriptedServer> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const text = Buffer.concat(parts).toString();
      const line = `${request.method} ${request.url}`;
      const body: unknown = text === '' ? null : JSON.parse(text);
      const answer = script(line, body, seen.length);
      seen.push({ line, body });
      if (typeof answer === 'function') return answer(request, response);
      response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers });
      response.end(JSON.stringify(answer.json));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
