import type { IncomingMessage, Server, ServerOptions } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { loadShippedPrompt, renderPrompt } from '../data/index.ts';
import { createApp } from './http/app.ts';
import type { LogEntry } from './http/log-entry.ts';
import { listen } from './listen.ts';
import { ModelService } from './service.ts';
import { type ServerSettingsInput, serverSettingsSchema } from './settings.ts';
import type { ModelInfo } from './threads/tasks.ts';

export interface StartOptions {
  /** Checkpoint folder in Hugging Face layout; only ever read. */
  model: string;
  settings?: ServerSettingsInput;
  /** Bearer tokens of which a request must have one. Without any, everybody may come in. */
  tokens?: readonly string[];
  log?: (entry: LogEntry) => void;
}

export interface RunningServer {
  /** Where it listens, http://host:port. */
  readonly url: string;
  readonly port: number;
  /** Loads the folder anew; requests under way are answered by the model that they came to. */
  reload(): Promise<ModelInfo>;
  /** Takes no new requests, answers those under way, ends the threads. Resolves when all is done. */
  stop(): Promise<void>;
}

/** How long a client may take for the head of a request; slower ones only hold connections. */
const HEAD_TIMEOUT_MS = 10_000;
const MOST_CONNECTIONS = 2048;

/** Loads the model, then listens. Errors of the model folder and the address are thrown. */
export async function startServer(options: StartOptions): Promise<RunningServer> {
  const { model, tokens = [], log = () => undefined } = options;
  const settings = serverSettingsSchema.parse(options.settings ?? {});
  const { text: promptText } = renderPrompt(await loadShippedPrompt(settings.prompt));
  const service = await ModelService.open(model, settings);
  const addressOf = (_request: Request, env: unknown): string =>
    (env as { incoming?: IncomingMessage } | undefined)?.incoming?.socket.remoteAddress ?? 'unknown';
  const app = createApp({ service, settings, tokens, promptText, log, addressOf });
  const serverOptions: ServerOptions = {
    headersTimeout: HEAD_TIMEOUT_MS,
    requestTimeout: settings.requestTimeoutMs + HEAD_TIMEOUT_MS,
    connectionsCheckingInterval: 5000,
  };
  const server = createAdaptorServer({ fetch: app.fetch, serverOptions }) as Server;
  server.maxConnections = MOST_CONNECTIONS;
  try {
    await listen(server, settings);
  } catch (error) {
    await service.close();
    throw error;
  }
  const { port } = server.address() as { port: number };
  const { host } = settings;
  log({ event: 'listening', address: host, port });
  let stopping: Promise<void> | undefined;

  async function stop(): Promise<void> {
    log({ event: 'stopping', waiting: service.admitted });
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    const limit = setTimeout(() => server.closeAllConnections(), settings.drainTimeoutMs);
    await service.close();
    // Answers that are written go out; a connection that is kept open for more has no purpose any more.
    const sweep = setInterval(() => server.closeIdleConnections(), 50);
    await closed;
    clearInterval(sweep);
    clearTimeout(limit);
    log({ event: 'stopped' });
  }

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    reload: async () => {
      try {
        const info = await service.reload();
        log({ event: 'reload', outcome: 'ok' });
        return info;
      } catch (error) {
        log({ event: 'reload', outcome: 'failed', message: (error as Error).message });
        throw error;
      }
    },
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}
