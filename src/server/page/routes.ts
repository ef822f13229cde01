import { createHash } from 'node:crypto';
import { Hono } from 'hono';
import { PAGE_POLICY, type PageOptions, renderPage } from './html.ts';

/** Headers of the page. A proxy or middleware that sets its own policy must leave this one standing. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': PAGE_POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  // Kept by the browser, asked for again each time: the file is the same until the server is another one.
  'cache-control': 'no-cache',
};

/** `GET /`: the page. It needs no token itself; what it asks for does. */
export function pageRoutes(options: PageOptions = {}): Hono {
  const page = renderPage(options);
  const etag = `"${createHash('sha256').update(page).digest('base64url').slice(0, 22)}"`;
  return new Hono().get('/', (context) => {
    const headers = { ...PAGE_HEADERS, etag };
    if (context.req.header('if-none-match') === etag) return context.body(null, 304, headers);
    return context.body(page, 200, headers);
  });
}
