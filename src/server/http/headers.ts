import type { MiddlewareHandler } from 'hono';
import { ApiError } from './api-error.ts';

/** For everything that sets none of its own: replies are data, never pages to be run or framed. */
const POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

const HEADERS: readonly (readonly [string, string])[] = [
  ['content-security-policy', POLICY],
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['permissions-policy', 'camera=(), microphone=(), geolocation=()'],
  ['cache-control', 'no-store'],
];

export const securityHeaders: MiddlewareHandler = async (c, next) => {
  await next();
  for (const [name, value] of HEADERS) {
    if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  }
};

const METHODS = 'GET, POST, OPTIONS';
const REQUEST_HEADERS = 'authorization, content-type';

/**
 * Closed by default: a page of another origin gets FORBIDDEN, also for requests that browsers send without asking.
 * Origins on the list get the CORS headers. Programs other than browsers send no Origin.
 */
export function originGate(allowed: readonly string[]): MiddlewareHandler {
  const known = new Set(allowed.map((origin) => origin.replace(/\/$/, '')));
  return async (c, next) => {
    const origin = c.req.header('origin');
    if (origin === undefined || isSameOrigin(origin, c.req.header('host'))) return next();
    if (!known.has(origin)) {
      throw new ApiError('FORBIDDEN', 'pages of other origins may not call this server', {
        hint: 'add the origin to security.corsOrigins',
      });
    }
    if (c.req.method === 'OPTIONS') {
      c.res = new Response(null, { status: 204 });
      c.res.headers.set('access-control-allow-methods', METHODS);
      c.res.headers.set('access-control-allow-headers', REQUEST_HEADERS);
      c.res.headers.set('access-control-max-age', '600');
    } else {
      await next();
    }
    c.res.headers.set('access-control-allow-origin', origin);
    c.res.headers.set('access-control-expose-headers', 'retry-after');
    c.res.headers.set('cross-origin-resource-policy', 'cross-origin');
    c.res.headers.append('vary', 'origin');
  };
}

function isSameOrigin(origin: string, host: string | undefined): boolean {
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase();
}
