import { request as httpRequest } from 'node:http';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LogEntry, RunningServer } from '../../src/server/index.ts';
import {
  dataUrl,
  jpeg,
  noise,
  postBytes,
  postForm,
  postJson,
  type Reply,
  send,
  start,
} from './server-fixture.ts';

const TOKENS = ['correct-horse-battery', 'staple-of-the-second'];
const SECRET = 'zebra-7f3a';

let server: RunningServer;
let guarded: RunningServer;
let picture: Buffer;
const log: LogEntry[] = [];

beforeAll(async () => {
  picture = await jpeg();
  const limits = { imageBytes: 200_000, bodyBytes: 600_000, pixels: 250_000, images: 3 };
  [server, guarded] = await Promise.all([
    start({ settings: { limits, queue: 4 }, log: (entry) => log.push(entry) }),
    start({
      tokens: TOKENS,
      settings: { security: { requestsPerMinute: 5, corsOrigins: ['https://allowed.example'] } },
    }),
  ]);
});
afterAll(async () => {
  await Promise.all([server?.stop(), guarded?.stop()]);
});

const refused = ({ status, body }: Reply): [number, string] => [status, body.error.code];
const score = () => `${server.url}/v1/score`;

describe('limits', () => {
  it('on the bytes of a picture, raw, in a form and in JSON', async () => {
    const big = Buffer.alloc(200_001, 1);
    expect(refused(await postBytes(score(), big))).toEqual([413, 'TOO_LARGE']);
    expect(refused(await postForm(score(), [['image', big]]))).toEqual([413, 'TOO_LARGE']);
    expect(refused(await postJson(score(), { image: Buffer.alloc(300_000).toString('base64') }))).toEqual([
      413,
      'TOO_LARGE',
    ]);
  });

  it('on the bytes of a request, whether or not its length is told', async () => {
    const big = new Uint8Array(600_001);
    expect(refused(await postBytes(score(), big))).toEqual([413, 'TOO_LARGE']);
    const stream = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(50_000));
      },
    });
    const init = { method: 'POST', body: stream, duplex: 'half', headers: { 'content-type': 'image/png' } };
    expect(refused(await send(score(), init as RequestInit))).toEqual([413, 'TOO_LARGE']);
  });

  it('on pixels, before a small file becomes a large picture', async () => {
    const bomb = await sharp({ create: { width: 9000, height: 9000, channels: 3, background: '#fff' } })
      .png({ compressionLevel: 9 })
      .toBuffer();
    expect(bomb.length).toBeLessThan(300_000);
    const small = await sharp({ create: { width: 501, height: 500, channels: 3, background: '#fff' } })
      .png()
      .toBuffer();
    expect(refused(await postBytes(score(), small))).toEqual([413, 'TOO_LARGE']);
    const reply = await postBytes(score(), bomb.length > 200_000 ? small : bomb);
    expect(refused(reply)).toEqual([413, 'TOO_LARGE']);
  });

  it('on pictures in one request', async () => {
    const four = [1, 2, 3, 4].map(() => ['images', picture] as const);
    expect(refused(await postForm(`${server.url}/v1/score/batch`, four))).toEqual([413, 'TOO_LARGE']);
    const images = [1, 2, 3, 4].map(() => 'AAAA');
    expect((await postJson(`${server.url}/v1/score/batch`, { images })).status).toBe(400);
  });

  it('on the queue: 429 with a Retry-After, and room again afterwards', async () => {
    const three = [1, 2, 3].map(() => ['images', picture] as const);
    const replies = await Promise.all([1, 2].map(() => postForm(`${server.url}/v1/score/batch`, three)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 429]);
    const busy = replies.find(({ status }) => status === 429)!;
    expect(busy.body.error.code).toBe('OVERLOADED');
    expect(Number(busy.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect((await postForm(`${server.url}/v1/score/batch`, three)).status).toBe(200);
  });
});

describe('what is read', () => {
  it('goes by content: a PNG called JPEG is one, a drawing called PNG is none', async () => {
    const png = await noise(56, 56).png().toBuffer();
    expect((await postBytes(score(), png, 'image/jpeg')).status).toBe(200);
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90"><rect/></svg>');
    expect(refused(await postBytes(score(), svg, 'image/png'))).toEqual([422, 'INPUT']);
    expect(refused(await postBytes(score(), Buffer.from('%PDF-1.7 ...'), 'image/png'))).toEqual([
      422,
      'INPUT',
    ]);
  });

  it.each([
    'http://127.0.0.1:1/x.png',
    'https://example.invalid/x.png',
    'file:///etc/passwd',
    '/etc/passwd',
    '../../etc/passwd',
    'package.json',
    'package0json',
    '//etc//passwd//',
  ])('no address and no path: %s', async (image) => {
    const reply = await postJson(score(), { image });
    expect(refused(reply)).toEqual([422, 'INPUT']);
    expect(JSON.stringify(reply.body)).not.toMatch(/root:|devDependencies/);
  });

  it.each([
    '/../package.json',
    '/%2e%2e/package.json',
    '/..%2fpackage.json',
    '/docs/../../etc/passwd',
    '//etc/passwd',
  ])('no file by its path: GET %s', async (path) => {
    const { hostname, port } = new URL(server.url);
    const status = await new Promise<number>((resolve, reject) => {
      httpRequest({ hostname, port, path }, (reply) => resolve(reply.resume().statusCode!))
        .on('error', reject)
        .end();
    });
    expect([400, 404]).toContain(status);
  });
});

describe('requests that cannot be understood', () => {
  it.each([
    ['broken JSON', '{"image":', 400, 'BAD_REQUEST'],
    ['JSON of another shape', '[]', 400, 'BAD_REQUEST'],
    ['an unknown field', '{"image":"AAAA","path":"/etc/passwd"}', 400, 'BAD_REQUEST'],
    ['a mode that is none', '{"image":"AAAA","mode":"best"}', 400, 'BAD_REQUEST'],
    ['a deep nest', '['.repeat(50_000), 400, 'BAD_REQUEST'],
    ['a prototype', '{"__proto__":{"image":"AAAA"}}', 400, 'BAD_REQUEST'],
    ['an empty picture', '{"image":""}', 400, 'BAD_REQUEST'],
  ])('%s', async (_, body, status, code) => {
    expect(refused(await postJson(score(), body))).toEqual([status, code]);
  });

  it('of no known type, compressed, without a body, or a form that is none', async () => {
    const post = (headers: Record<string, string>, body = 'x') =>
      send(score(), { method: 'POST', headers, body });
    expect(refused(await post({ 'content-type': 'text/html' }))).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    expect(refused(await post({ 'content-type': 'image/png', 'content-encoding': 'gzip' }))).toEqual([
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ]);
    expect(refused(await post({ 'content-type': 'image/png' }, ''))).toEqual([422, 'INPUT']);
    expect(refused(await post({ 'content-type': 'multipart/form-data' }))).toEqual([400, 'BAD_REQUEST']);
    expect(refused(await post({ 'content-type': 'multipart/form-data; boundary=x' }))).toEqual([
      400,
      'BAD_REQUEST',
    ]);
  });

  it('to no address, or by another method', async () => {
    expect(refused(await send(`${server.url}/v2/score`))).toEqual([404, 'NOT_FOUND']);
    expect(refused(await send(score()))).toEqual([405, 'METHOD_NOT_ALLOWED']);
    expect(refused(await postJson(`${server.url}/v1/models/reload`, {}))).toEqual([403, 'FORBIDDEN']);
  });
});

it('every reply has security headers and a page keeps its own policy', async () => {
  for (const path of ['/healthz', '/v1/score', '/nowhere', '/', '/docs']) {
    const { headers } = await fetch(`${server.url}${path}`);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  }
  const page = await fetch(`${server.url}/docs`);
  expect(page.headers.get('content-security-policy')).toContain('style-src');
  expect(await page.text()).not.toMatch(/(?:src|href)="https?:/);
});

describe('pages of other origins', () => {
  const post = (url: string, origin: string) =>
    send(`${url}/v1/rewards`, { method: 'POST', headers: { origin, authorization: `Bearer ${TOKENS[1]}` } });

  it('may not send, unless they are on the list', async () => {
    expect(refused(await post(guarded.url, 'https://other.example'))).toEqual([403, 'FORBIDDEN']);
    const allowed = await post(guarded.url, 'https://allowed.example');
    expect(allowed.status).toBe(400);
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://allowed.example');
    expect((await post(server.url, 'null')).status).toBe(403);
  });

  it('get their preflight answered without a token', async () => {
    const ask = (origin: string) =>
      fetch(`${guarded.url}/v1/score`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST' },
      });
    const reply = await ask('https://allowed.example');
    expect(reply.status).toBe(204);
    expect(reply.headers.get('access-control-allow-headers')).toContain('authorization');
    expect((await ask('https://other.example')).headers.has('access-control-allow-origin')).toBe(false);
  });
});

describe('a server with tokens', () => {
  const models = (token?: string) =>
    send(
      `${guarded.url}/v1/models`,
      token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } },
    );

  it('answers those who have one, and tells nothing to the others', async () => {
    expect((await models(TOKENS[0])).body.data[0].id).toBe('q-ponder');
    const without = await models();
    expect(refused(without)).toEqual([401, 'UNAUTHORIZED']);
    expect(without.headers.get('www-authenticate')).toBe('Bearer');
    expect((await models(`${TOKENS[0]}x`)).status).toBe(401);
    expect((await fetch(`${guarded.url}/metrics`)).status).toBe(401);
    for (const path of ['/healthz', '/readyz', '/', '/docs', '/openapi.json']) {
      expect((await fetch(`${guarded.url}${path}`)).status).toBe(200);
    }
  });

  it('limits each token by itself', async () => {
    // One request of the five was made above.
    for (let i = 0; i < 4; i++) expect((await models(TOKENS[0])).status).toBe(200);
    const limited = await models(TOKENS[0]);
    expect(refused(limited)).toEqual([429, 'RATE_LIMITED']);
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await models(TOKENS[1])).status).toBe(200);
  });
});

it('the log holds nothing that a client wrote', async () => {
  await postJson(`${server.url}/v1/score?mode=${SECRET}`, { image: SECRET });
  await postJson(score(), `{"${SECRET}": `);
  await postJson(`${server.url}/v1/${SECRET}`, { [SECRET]: SECRET });
  await postJson(`${server.url}/v1/chat/completions`, {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: SECRET },
          { type: 'image_url', image_url: { url: dataUrl(Buffer.from(SECRET)) } },
        ],
      },
    ],
    max_tokens: 4,
  });
  await send(score(), {
    method: 'POST',
    headers: { 'content-type': `image/${SECRET}`, 'x-other': SECRET },
    body: SECRET,
  });
  expect(log.length).toBeGreaterThan(10);
  expect(JSON.stringify(log)).not.toContain(SECRET);
  expect(log.some(({ event }) => event === 'defect')).toBe(false);
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).not.toContain(SECRET);
  expect(metrics).toMatch(/q_ponder_errors_total\{code="BAD_REQUEST"\} [1-9]/);
});

it('openapi.json describes every route of the interface', async () => {
  const { body } = await send(`${server.url}/openapi.json`);
  expect(Object.keys(body.paths).sort()).toEqual([
    '/healthz',
    '/metrics',
    '/openapi.json',
    '/readyz',
    '/v1/chat/completions',
    '/v1/compare',
    '/v1/models',
    '/v1/models/reload',
    '/v1/rewards',
    '/v1/score',
    '/v1/score/batch',
  ]);
  const json = body.paths['/v1/score'].post.requestBody.content['application/json'].schema;
  expect(json.required).toEqual(['image']);
  expect(json.properties.samples.maximum).toBe(8);
});
