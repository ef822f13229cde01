import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { routePath } from 'hono/route';
import { InputError } from '../../core/index.ts';
import { EnvironmentFailure, type TextEnvironmentFamily } from '../../env/index.ts';
import { ApiError } from '../http/api-error.ts';
import { originGate, securityHeaders } from '../http/headers.ts';
import type { LogEntry } from '../http/log-entry.ts';
import { createBody, idBody, idInQuery, jsonBody, resetBody, stepBody, valid } from './bodies.ts';
import { EnvironmentError } from './environment-error.ts';
import type { Instance, InstanceTable } from './instances.ts';
import type { EnvironmentMetrics } from './metrics.ts';
import type { ServedProtocol } from './served-protocol.ts';
import type { EnvironmentServerSettings } from './settings.ts';

export interface EnvironmentAppOptions {
  family: TextEnvironmentFamily;
  protocol: ServedProtocol;
  table: InstanceTable;
  settings: EnvironmentServerSettings;
  metrics: EnvironmentMetrics;
  log(entry: LogEntry): void;
  /** The server takes no new work. */
  isStopping(): boolean;
}

/** The HTTP face of one environment, as a function from Request to Response. */
export function createEnvironmentApp(options: EnvironmentAppOptions): Hono {
  const { family, protocol, table, settings, metrics, log, isStopping } = options;
  const { prefix, idField } = protocol;
  const ids = idBody(idField);
  const resets = resetBody(protocol.taskField, protocol.defaultTask);
  let made = 0;

  /** Runs on an instance. One whose world threw is closed: nobody knows in which state it is. */
  async function on<T>(id: number, run: (instance: Instance) => Promise<T>): Promise<T> {
    try {
      return await table.use(id, run);
    } catch (error) {
      if (!isOfClient(error)) await table.close(id);
      throw error;
    }
  }

  const app = new Hono();
  app.use(async (c, next) => {
    const startedAt = performance.now();
    await next();
    const pattern = routePath(c, -1);
    const route = known.has(pattern) ? pattern : 'other';
    const ms = performance.now() - startedAt;
    metrics.request(route, c.res.status, ms / 1000);
    log({
      event: 'request',
      route,
      method: c.req.method,
      status: c.res.status,
      ms: Math.round(ms * 10) / 10,
    });
  });
  app.use(securityHeaders);
  app.use(originGate([]));
  app.use(
    bodyLimit({
      maxSize: settings.bodyBytes,
      onError: () => {
        throw new EnvironmentError('TOO_LARGE', `a request may have ${settings.bodyBytes} bytes`);
      },
    }),
  );
  app.use(async (c, next) => {
    if (isStopping() && c.req.method === 'POST' && !c.req.path.endsWith('/close')) {
      throw new EnvironmentError('STOPPING', 'the server is about to end');
    }
    return next();
  });

  app.get('/', (c) => c.json(`q-ponder serves ${family.name}, ${family.tasks} tasks.`));
  app.get('/healthz', (c) => c.text('ok\n'));
  app.get('/metrics', async (c) =>
    c.body(await metrics.registry.metrics(), 200, { 'content-type': metrics.registry.contentType }),
  );

  app.post(`${prefix}/create`, async (c) => {
    const { commands, goal } = valid(createBody, await jsonBody(c));
    if (protocol.beginsAtCreate && (commands || goal)) {
      throw new EnvironmentError(
        'BAD_REQUEST',
        'recipes and goals of your own are not served: leave them out',
      );
    }
    const { id } = table.create();
    metrics.count('created');
    if (!protocol.beginsAtCreate) return c.json(protocol.created(id, null));
    const state = await on(id, (instance) => instance.reset(made++ % family.tasks));
    metrics.count('begun');
    return c.json(protocol.created(id, state));
  });
  app.post(`${prefix}/reset`, async (c) => {
    const body = await jsonBody(c);
    const id = valid(ids, body)[idField];
    const reset: Record<string, number | undefined> = valid(resets, body);
    const { task, seed } = protocol.choose(reset[protocol.taskField] as number, family.tasks);
    const state = await on(id, (instance) => instance.reset(task, reset.world_seed ?? seed));
    metrics.count('begun');
    return c.json(protocol.opened(id, state));
  });
  app.post(`${prefix}/step`, async (c) => {
    const body = await jsonBody(c);
    const id = valid(ids, body)[idField];
    const { action } = valid(stepBody, body);
    const state = await on(id, (instance) => instance.step(action));
    if (state.done) metrics.count('finished');
    return c.json(protocol.stepped(state));
  });
  app.post(`${prefix}/close`, async (c) => {
    const closed = await table.close(valid(ids, await jsonBody(c))[idField]);
    if (closed) metrics.count('closed');
    return c.json(closed);
  });
  const questions = {
    '/observation': async (instance: Instance) => instance.begun().text,
    ...protocol.questions,
  };
  for (const [path, answer] of Object.entries(questions)) {
    app.get(`${prefix}${path}`, async (c) => c.json(await on(idInQuery(c, idField), answer)));
  }
  if (protocol.actionsPath !== null) {
    // The actions are the same everywhere in such a world, so that no instance is named.
    app.get(`${prefix}${protocol.actionsPath}`, async (c) => {
      const environment = family.create();
      try {
        await environment.reset(0);
        return c.json(await environment.availableActions());
      } finally {
        await environment.close();
      }
    });
  }

  const known = new Set(app.routes.filter(({ method }) => method !== 'ALL').map(({ path }) => path));
  app.notFound((c) => {
    const error = known.has(c.req.path)
      ? new EnvironmentError('METHOD_NOT_ALLOWED', 'this address takes another method')
      : new EnvironmentError('NOT_FOUND', 'there is nothing at this address');
    return c.json({ error: error.message, code: error.code }, error.status as 404);
  });
  app.onError((error, c) => {
    const told = toEnvironmentError(error);
    metrics.error(told.code);
    if (told.code === 'INTERNAL') {
      const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
      log({ event: 'defect', route: routePath(c, -1), error: error.name, frames });
    }
    const headers: Record<string, string> =
      told.retryAfter === undefined ? {} : { 'retry-after': String(told.retryAfter) };
    const status = settings.errors === 'body' ? 200 : told.status;
    return c.json({ error: told.message, code: told.code }, status as 500, headers);
  });
  return app;
}

/** Errors that leave the world as it was. */
const isOfClient = (error: unknown): boolean =>
  error instanceof EnvironmentError || error instanceof InputError;

function toEnvironmentError(error: unknown): EnvironmentError {
  if (error instanceof EnvironmentError) return error;
  if (error instanceof ApiError) return new EnvironmentError('FORBIDDEN', error.message);
  if (error instanceof InputError) {
    return new EnvironmentError(
      'UNKNOWN_TASK',
      error.hint ? `${error.message}: ${error.hint}` : error.message,
    );
  }
  if (error instanceof EnvironmentFailure) return new EnvironmentError('ENVIRONMENT', error.message);
  return new EnvironmentError('INTERNAL', 'the server failed to carry out this request; its log says where');
}
