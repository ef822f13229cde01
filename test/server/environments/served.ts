import { afterEach } from 'vitest';
import type { TextEnvironmentFamily } from '../../../src/env/index.ts';
import {
  type EnvironmentServerOptions,
  type RunningEnvironmentServer,
  startEnvironmentServer,
} from '../../../src/server/index.ts';

const running: RunningEnvironmentServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
});

/** A server on a free port that ends with the test. */
export async function serve(
  family: TextEnvironmentFamily,
  settings: EnvironmentServerOptions['settings'] = {},
  log?: EnvironmentServerOptions['log'],
): Promise<RunningEnvironmentServer> {
  const options = { family, settings: { port: 0, ...settings } };
  const server = await startEnvironmentServer(log === undefined ? options : { ...options, log });
  running.push(server);
  return server;
}

/** Status and JSON of a reply. */
export async function call(url: string, body?: unknown): Promise<[status: number, reply: unknown]> {
  const init =
    body === undefined
      ? {}
      : {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: typeof body === 'string' ? body : JSON.stringify(body),
        };
  const response = await fetch(url, init);
  return [response.status, await response.json()];
}

/** A POST without a body, as some of AgentGym's clients create. */
export async function create(url: string): Promise<unknown> {
  return (await fetch(`${url}/create`, { method: 'POST' })).json();
}
