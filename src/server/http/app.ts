import { Hono } from 'hono';
import { routePath } from 'hono/route';
import { pageRoutes } from '../page/index.ts';
import type { ScoringService } from '../service.ts';
import type { ServerSettings } from '../settings.ts';
import { ApiError, errorBody, toApiError } from './api-error.ts';
import { TokenCheck } from './auth.ts';
import { ByteBudget } from './byte-budget.ts';
import { chatRoutes } from './chat-routes.ts';
import { DOCS_POLICY, docsPage } from './docs-page.ts';
import { originGate, securityHeaders } from './headers.ts';
import type { LogEntry } from './log-entry.ts';
import { openApi } from './openapi.ts';
import { RateLimit } from './rate-limit.ts';
import type { RouteContext } from './request-scope.ts';
import { rewardRoutes } from './reward-routes.ts';
import { scoreRoutes } from './score-routes.ts';

export interface AppOptions {
  service: ScoringService;
  settings: ServerSettings;
  /** Bearer tokens; without any, everybody may come in. */
  tokens: readonly string[];
  /** The question that the model was trained with. */
  promptText: string;
  log: (entry: LogEntry) => void;
  /** Address of a request's client. */
  addressOf: (request: Request, env: unknown) => string;
}

/** Reachable without a token: what load balancers, browsers and readers need before they have one. */
const OPEN = new Set(['/', '/healthz', '/readyz', '/docs', '/openapi.json']);

/** The HTTP face of a scoring service, as a function from Request to Response. */
export function createApp({ service, settings, tokens, promptText, log, addressOf }: AppOptions): Hono {
  const context: RouteContext = { service, settings, budget: new ByteBudget(settings.limits.bufferedBytes) };
  const check = new TokenCheck(tokens);
  const { requestsPerMinute } = settings.security;
  const rate = requestsPerMinute === null ? null : new RateLimit(requestsPerMinute);
  const description = openApi(settings);
  const docs = docsPage(description);
  const { metrics } = service;

  const app = new Hono();
  app.use(async (c, next) => {
    const startedAt = performance.now();
    await next();
    // The pattern, never the path: a path is the client's text.
    const route = routeOf(routePath(c, -1));
    const ms = performance.now() - startedAt;
    const method = METHODS.has(c.req.method) ? c.req.method : 'other';
    metrics.requests.inc({ route, method, status: String(c.res.status) });
    metrics.requestSeconds.observe({ route }, ms / 1000);
    log({ event: 'request', route, method, status: c.res.status, ms: Math.round(ms * 10) / 10 });
  });
  app.use(securityHeaders);
  app.use(originGate(settings.security.corsOrigins));
  app.use(async (c, next) => {
    if (!OPEN.has(c.req.path)) {
      const client = check.client(c.req.header('authorization'), addressOf(c.req.raw, c.env));
      if (c.req.path.startsWith('/v1/')) rate?.take(client);
    }
    return next();
  });

  app.route('/', pageRoutes({ maxBytes: settings.limits.imageBytes, model: settings.name }));
  app.route('/', scoreRoutes(context));
  app.route('/', chatRoutes(context, promptText));
  app.route('/', rewardRoutes(context));
  app.get('/healthz', (c) => c.text('ok\n'));
  app.get('/readyz', (c) => (service.isReady() ? c.text('ready\n') : c.text('not ready\n', 503)));
  app.get('/metrics', async (c) => {
    const text = await metrics.registry.metrics();
    return c.body(text, 200, { 'content-type': metrics.registry.contentType });
  });
  app.get('/openapi.json', (c) => c.json(description));
  app.get('/docs', (c) => c.html(docs, 200, { 'content-security-policy': DOCS_POLICY }));
  app.get('/v1/models', (c) => {
    const { openedAt, modelSha256, prompt, mode } = service.model;
    const created = Math.floor(openedAt.getTime() / 1000);
    const model = { id: settings.name, object: 'model', created, owned_by: 'q-ponder' };
    return c.json({ object: 'list', data: [{ ...model, modelSha256, prompt, mode }] });
  });
  app.post('/v1/models/reload', async (c) => {
    if (!settings.security.allowReload) {
      throw new ApiError('FORBIDDEN', 'this server does not reload by request', {
        hint: 'set security.allowReload, or send the process SIGHUP',
      });
    }
    return c.json({ model: settings.name, ...(await service.reload()) });
  });

  const known = new Set(app.routes.filter(({ method }) => method !== 'ALL').map(({ path }) => path));
  app.notFound((c) => {
    const error = known.has(c.req.path)
      ? new ApiError('METHOD_NOT_ALLOWED', 'this address takes another method', { hint: '/docs lists them' })
      : new ApiError('NOT_FOUND', 'there is nothing at this address', { hint: '/docs lists what there is' });
    return c.json(errorBody(error), error.status as 404);
  });
  app.onError((error, c) => {
    const told = toApiError(error);
    metrics.errors.inc({ code: told.code });
    if (told.code === 'INTERNAL') {
      // Messages may quote what a client sent; the frames cannot.
      const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
      log({ event: 'defect', route: routeOf(routePath(c, -1)), error: error.name, frames });
    }
    const headers: Record<string, string> = {};
    if (told.retryAfter !== undefined) headers['retry-after'] = String(told.retryAfter);
    if (told.code === 'UNAUTHORIZED') headers['www-authenticate'] = 'Bearer';
    return c.json(errorBody(told), told.status as 500, headers);
  });

  function routeOf(pattern: string): string {
    return known.has(pattern) ? pattern : 'other';
  }
  return app;
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
