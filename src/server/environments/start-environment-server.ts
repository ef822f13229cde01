import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import type { TextEnvironmentFamily } from '../../env/index.ts';
import type { LogEntry } from '../http/log-entry.ts';
import { listen } from '../listen.ts';
import { createEnvironmentApp } from './app.ts';
import { InstanceTable } from './instances.ts';
import { EnvironmentMetrics } from './metrics.ts';
import { protocolOf, SERVED } from './served-protocols.ts';
import { type EnvironmentServerSettingsInput, environmentServerSettingsSchema } from './settings.ts';

export interface EnvironmentServerOptions {
  family: TextEnvironmentFamily;
  settings?: EnvironmentServerSettingsInput;
  log?: (entry: LogEntry) => void;
}

export interface RunningEnvironmentServer {
  /** What clients are given: http://host:port, with the prefix of the protocol where it has one. */
  readonly url: string;
  readonly port: number;
  /** Instances that are open. */
  readonly instances: number;
  /** Closes what has been idle for too long, as the server does by itself from time to time. */
  expire(): Promise<number>;
  /** Takes no new work, answers what is under way, closes every instance. */
  stop(): Promise<void>;
}

const HEAD_TIMEOUT_MS = 10_000;
/**
 * How long a connection is kept open without a request. An agent thinks between two steps; at Node's 5 s the server
 * would often close at the very moment of the next request.
 */
const KEEP_ALIVE_MS = 65_000;
/** Between two looks for idle instances. */
const SWEEP_MS = 10_000;

/** Serves an environment under the addresses that AgentGym's clients call. Errors of the address are thrown. */
export async function startEnvironmentServer(
  options: EnvironmentServerOptions,
): Promise<RunningEnvironmentServer> {
  const { family, log = () => undefined } = options;
  const settings = environmentServerSettingsSchema.parse(options.settings ?? {});
  const protocol = SERVED[settings.protocol ?? protocolOf(family.name)];
  const table = new InstanceTable({ family, most: settings.instances, idleMs: 1000 * settings.idleSeconds });
  const metrics = new EnvironmentMetrics(() => table.size);
  let stopping: Promise<void> | undefined;
  const app = createEnvironmentApp({
    family,
    protocol,
    table,
    settings,
    metrics,
    log,
    isStopping: () => stopping !== undefined,
  });
  const server = createAdaptorServer({
    fetch: app.fetch,
    serverOptions: {
      headersTimeout: HEAD_TIMEOUT_MS,
      requestTimeout: 3 * HEAD_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
  }) as Server;
  await listen(server, settings);
  const { port } = server.address() as { port: number };
  const { host } = settings;
  log({ event: 'listening', address: host, port });

  async function expire(): Promise<number> {
    const expired = await table.expire();
    if (expired > 0) metrics.count('expired', expired);
    return expired;
  }
  const failedSweep = (error: unknown): void => {
    log({ event: 'defect', route: 'expiry', error: (error as Error).name, frames: [] });
  };
  const sweep = setInterval(
    () => void expire().catch(failedSweep),
    Math.min(SWEEP_MS, 500 * settings.idleSeconds),
  );
  sweep.unref();

  async function stop(): Promise<void> {
    clearInterval(sweep);
    log({ event: 'stopping', waiting: table.size });
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    const limit = setTimeout(() => server.closeAllConnections(), settings.drainTimeoutMs);
    // A connection that is kept open for more requests has no purpose any more.
    const idle = setInterval(() => server.closeIdleConnections(), 50);
    await closed;
    clearInterval(idle);
    clearTimeout(limit);
    await table.closeAll();
    log({ event: 'stopped' });
  }

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}${protocol.prefix}`,
    port,
    get instances() {
      return table.size;
    },
    expire,
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}
