import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createSocketServer, type Server, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Failure } from '../../src/remote/failure.ts';
import { createChatClient } from '../../src/remote/index.ts';
import { createNodeFetch } from '../../src/remote/node-fetch.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));

async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((done, fail) => server.once('error', fail).listen(0, host, done));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((done) => server.close(done));
  });
  return (server.address() as AddressInfo).port;
}

/** An HTTP server that answers every request by `handler`; the address of it. */
async function serve(handler: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  return `http://127.0.0.1:${await listen(createServer(handler))}/`;
}

/** A server that says exactly these bytes to whoever connects, and ends. */
async function saying(bytes: string | Buffer): Promise<string> {
  const server = createSocketServer((socket) => void socket.once('data', () => void socket.end(bytes)));
  return `http://127.0.0.1:${await listen(server)}/`;
}

const failure = async (asked: Promise<unknown>): Promise<Error & { code?: string }> =>
  asked.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: Error) => error,
  );

const encoded = (encoding: string, bytes: Buffer) => (_: IncomingMessage, response: ServerResponse) =>
  void response.writeHead(200, { 'content-encoding': encoding, 'content-length': bytes.length }).end(bytes);

const TEXT = '{"said": "Größe 图像 🙂"}';

describe('a request', () => {
  it('sends method, headers and body, in UTF-8', async () => {
    const seen: unknown[] = [];
    const url = await serve((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { 'x-one': one, 'content-length': length } = request.headers;
        seen.push(request.method, request.url, one, length, Buffer.concat(chunks).toString('utf8'));
        response.end('ok');
      });
    });
    const headers = new Headers({ 'X-One': '1' });
    await createNodeFetch()(`${url}a/b?c=d`, { method: 'POST', headers, body: TEXT });
    expect(seen).toEqual(['POST', '/a/b?c=d', '1', String(Buffer.byteLength(TEXT)), TEXT]);
  });

  it('sends bytes as they are and refuses what it cannot send', async () => {
    const url = await serve((request, response) => void request.pipe(response));
    const fetch = createNodeFetch();
    const echo = await fetch(url, { method: 'POST', body: new Uint8Array([104, 105]) });
    expect(await echo.text()).toBe('hi');
    await expect(fetch(url, { method: 'POST', body: new FormData() })).rejects.toThrow(
      'texts and bytes alone',
    );
    await expect(fetch('file:///etc/hostname')).rejects.toThrow('cannot ask an address of file:');
  });

  it('keeps one connection for requests that follow each other', async () => {
    const ports = new Set<number | undefined>();
    const url = await serve((request, response) => {
      ports.add(request.socket.remotePort);
      response.end('ok');
    });
    const fetch = createNodeFetch();
    for (let i = 0; i < 5; i++) await (await fetch(url)).text();
    expect(ports.size).toBe(1);
  });

  it('reaches an address of IPv6', async () => {
    const server = createServer((request, response) => void response.end(request.headers.host));
    const port = await listen(server, '::1');
    const reply = await createNodeFetch()(`http://[::1]:${port}/`);
    expect(await reply.text()).toBe(`[::1]:${port}`);
  });
});

describe('a reply', () => {
  it('has status, headers, text and JSON', async () => {
    const url = await serve((_, response) => {
      response.writeHead(200, 'fine', { 'X-Request-Id': 'r1', 'Set-Cookie': ['a=1', 'b=2'] }).end(TEXT);
    });
    const reply = await createNodeFetch()(url);
    expect([reply.ok, reply.status, reply.statusText, reply.url]).toEqual([true, 200, 'fine', url]);
    expect(reply.headers.get('X-REQUEST-ID')).toBe('r1');
    expect(reply.headers.get('set-cookie')).toBe('a=1, b=2');
    expect(reply.headers.get('constructor')).toBeNull();
    expect(reply.headers.has('x-other')).toBe(false);
    expect(Object.fromEntries(reply.headers.entries())).toMatchObject({ 'x-request-id': 'r1' });
    expect(await reply.json()).toEqual(JSON.parse(TEXT));
    expect(await reply.text()).toBe(TEXT);
    expect(Buffer.from(await reply.arrayBuffer()).toString('utf8')).toBe(TEXT);
  });

  it('in many small pieces, which cut characters, is put together', async () => {
    const url = await serve((_, response) => {
      const bytes = Buffer.from(TEXT);
      const send = (at: number): void => {
        if (at === bytes.length) response.end();
        else response.write(bytes.subarray(at, at + 1), () => send(at + 1));
      };
      send(0);
    });
    expect(await (await createNodeFetch()(url)).text()).toBe(TEXT);
  });

  it.each([
    [204, ''],
    [304, ''],
    [404, 'no'],
    [503, 'busy'],
    [799, 'odd'],
  ])('of status %i is a reply too', async (status, body) => {
    const url = await serve((_, response) => void response.writeHead(status).end(body));
    const reply = await createNodeFetch()(url);
    expect([reply.ok, reply.status, await reply.text()]).toEqual([status < 300, status, body]);
  });

  it('loses a byte order mark, as texts of fetch do', async () => {
    const url = await serve((_, response) => void response.end('\uFEFF{}'));
    expect(await (await createNodeFetch()(url)).json()).toEqual({});
  });

  it('that sends elsewhere is not followed', async () => {
    let asked = 0;
    const elsewhere = await serve((_, response) => {
      asked++;
      response.end('secret');
    });
    for (const status of [301, 302, 303, 307, 308]) {
      const url = await serve(
        (_, response) => void response.writeHead(status, { location: elsewhere }).end(),
      );
      expect((await createNodeFetch()(url, { redirect: 'follow' })).status).toBe(status);
    }
    expect(asked).toBe(0);
  });
});

describe('an encoded reply', () => {
  const bytes = Buffer.from(TEXT);

  it.each([
    ['gzip', zlib.gzipSync(bytes)],
    ['x-gzip', zlib.gzipSync(bytes)],
    ['GZIP', zlib.gzipSync(bytes)],
    ['deflate', zlib.deflateSync(bytes)],
    ['deflate', zlib.deflateRawSync(bytes)],
    ['br', zlib.brotliCompressSync(bytes)],
    ['identity', bytes],
    ['gzip, br', zlib.brotliCompressSync(zlib.gzipSync(bytes))],
    ['gzip', Buffer.alloc(0)],
  ])('by %s is decoded', async (encoding, body) => {
    const reply = await createNodeFetch()(await serve(encoded(encoding, body)));
    expect(await reply.text()).toBe(body.length === 0 ? '' : TEXT);
  });

  it.each([
    ['in an unknown way', 'zstd', bytes, /not known/],
    ['by the name of a method of objects', 'constructor', bytes, /not known/],
    ['a hundred times', new Array(100).fill('gzip').join(), bytes, /not known/],
    ['in words alone', 'gzip', bytes, /is not, or was cut/],
    ['and cut', 'gzip', zlib.gzipSync(bytes).subarray(0, 20), /is not, or was cut/],
    ['and cut', 'br', zlib.brotliCompressSync(bytes).subarray(0, 5), /is not, or was cut/],
  ])('%s is a failure with a name (%s)', async (_what, encoding, body, message) => {
    const error = await failure(createNodeFetch()(await serve(encoded(encoding, body))));
    expect(error).toBeInstanceOf(Failure);
    expect(error).toMatchObject({ reason: 'malformed', message: expect.stringMatching(message) });
  });

  it.each([
    ['gzip', zlib.gzipSync(Buffer.alloc(50_000_000))],
    ['br', zlib.brotliCompressSync(Buffer.alloc(50_000_000))],
  ])('by %s that grows beyond the limit is given up', async (encoding, bomb) => {
    expect(bomb.length).toBeLessThan(100_000);
    const error = await failure(createNodeFetch(1_000_000)(await serve(encoded(encoding, bomb))));
    expect(error).toMatchObject({
      reason: 'malformed',
      retryable: false,
      message: /larger than 1000000 bytes/,
    });
  });
});

describe('a reply that does not end well', () => {
  it('without an end is given up at the limit, and its connection with it', async () => {
    const closed: Promise<void>[] = [];
    const url = await serve((_, response) => {
      closed.push(new Promise((done) => response.on('close', done)));
      const chunk = Buffer.alloc(65536, 97);
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more);
      more();
    });
    const error = await failure(createNodeFetch(1_000_000)(url));
    expect(error).toMatchObject({
      reason: 'malformed',
      retryable: false,
      message: /larger than 1000000 bytes/,
    });
    await closed[0];
  });

  it.each([
    ['before its status', 'HTTP/1.1 2'],
    ['inside its headers', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\nX-'],
    ['inside its body', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345'],
    ['inside a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab'],
    ['between chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n'],
  ])('broken %s is an error of the connection', async (_where, bytes) => {
    const error = await failure(createNodeFetch()(await saying(bytes)));
    expect(error.code).toMatch(/^ECONNRESET$|^HPE_/);
  });

  it.each([
    ['no HTTP at all', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na'],
    [
      'an upgrade nobody asked for',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
    ],
    ['headers without an end', `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(100_000)}\r\n\r\n`],
  ])('that is %s is an error', async (_what, bytes) => {
    const error = await failure(createNodeFetch()(await saying(bytes)));
    expect(error.code).toMatch(/^ECONNRESET$|^HPE_/);
  });

  it('whose end is the end of the connection is whole', async () => {
    expect(await (await createNodeFetch()(await saying('HTTP/1.0 200 OK\r\n\r\nhello'))).text()).toBe(
      'hello',
    );
  });

  it('and a port where nobody listens is an error at once', async () => {
    const server = createSocketServer();
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    await new Promise((done) => server.close(done));
    expect((await failure(createNodeFetch()(`http://127.0.0.1:${port}/`))).code).toBe('ECONNREFUSED');
  });
});

describe('a signal', () => {
  it('that has aborted before sends nothing', async () => {
    let asked = 0;
    const url = await serve(() => void asked++);
    const error = await failure(createNodeFetch()(url, { signal: AbortSignal.abort() }));
    expect([error.name, asked]).toEqual(['AbortError', 0]);
  });

  it.each([
    ['before the reply', () => undefined],
    ['inside the reply', (response: ServerResponse) => void response.write('{"half')],
  ])('ends a request %s, and its connection', async (_when, begin) => {
    const stop = new AbortController();
    let gone: Promise<void> | undefined;
    const url = await serve((_, response) => {
      gone = new Promise((done) => response.on('close', done));
      begin(response);
      setTimeout(() => stop.abort(new Error('enough')), 20);
    });
    const error = await failure(createNodeFetch()(url, { signal: stop.signal }));
    expect(error.message).toBe('enough');
    await gone;
  });

  it('that aborts with something other than an error is an AbortError', async () => {
    const stop = new AbortController();
    const url = await serve(() => stop.abort('text'));
    expect(await failure(createNodeFetch()(url, { signal: stop.signal }))).toMatchObject({
      name: 'AbortError',
      message: 'text',
    });
  });

  it('that aborts later changes nothing, and is not listened to any more', async () => {
    const stop = new AbortController();
    const url = await serve((_, response) => void response.end('ok'));
    const fetch = createNodeFetch();
    const reply = await fetch(url, { signal: stop.signal });
    stop.abort();
    expect(await reply.text()).toBe('ok');
    expect(await (await fetch(url)).text()).toBe('ok');
  });
});

describe('an event stream', () => {
  const headers = { 'content-type': 'text/event-stream; charset=utf-8' };

  it('is read as it comes', async () => {
    let goOn: (() => void) | undefined;
    const url = await serve((_, response) => {
      response.writeHead(200, headers).write('data: 1\n\n');
      goOn = () => response.end('data: 2\n\n');
    });
    const reply = await createNodeFetch()(url);
    const reader = reply.body!.pipeThrough(new TextDecoderStream()).getReader();
    expect(await reader.read()).toEqual({ done: false, value: 'data: 1\n\n' });
    goOn?.();
    expect(await reader.read()).toEqual({ done: false, value: 'data: 2\n\n' });
    expect((await reader.read()).done).toBe(true);
  });

  it('that is encoded is decoded as it comes', async () => {
    const url = await serve((_, response) => {
      const gzip = zlib.createGzip();
      gzip.pipe(response.writeHead(200, { ...headers, 'content-encoding': 'gzip' }));
      gzip.end('data: 1\n\n');
    });
    expect(await (await createNodeFetch()(url)).text()).toBe('data: 1\n\n');
  });

  it.each([
    ['breaks', {}, 'data: 1\n\n'],
    ['is encoded and breaks', { 'content-encoding': 'gzip' }, zlib.gzipSync('data: 1\n\n').subarray(0, 12)],
  ])('that %s tells its reader', async (_how, more, bytes) => {
    const url = await serve((_, response) => {
      response.writeHead(200, { ...headers, ...more }).write(bytes, () => response.destroy());
    });
    const reply = await createNodeFetch()(url);
    await expect(reply.text()).rejects.toThrow();
  });

  it('ends with the signal', async () => {
    const stop = new AbortController();
    const url = await serve((_, response) => void response.writeHead(200, headers).write('data: 1\n\n'));
    const reply = await createNodeFetch()(url, { signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(reply.text()).rejects.toThrow();
  });
});

describe('https', () => {
  async function secure(): Promise<string> {
    const [key, cert] = await Promise.all([
      readFile(fixture('localhost-key.pem')),
      readFile(fixture('localhost-certificate.pem')),
    ]);
    const server = createSecureServer({ key, cert }, (_, response) => void response.end('safe'));
    return `https://localhost:${await listen(server)}/`;
  }

  it('refuses a certificate that nobody vouches for, and does not try again', async () => {
    const url = await secure();
    expect((await failure(createNodeFetch()(url))).code).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
    const client = createChatClient({ baseUrl: `${url}v1`, model: 'm' }, { firstDelayMs: 1 });
    const asked = client.ask({ messages: [{ role: 'user', content: 'hi' }] });
    await expect(asked).rejects.toMatchObject({
      reason: 'unreachable',
      hint: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    });
    expect(client.usage().requests).toBe(1);
  });

  it('accepts one that NODE_EXTRA_CA_CERTS vouches for', async () => {
    const url = await secure();
    const module = new URL('../../src/remote/node-fetch.ts', import.meta.url).href;
    const code = `import { createNodeFetch } from ${JSON.stringify(module)};
      const reply = await createNodeFetch()(${JSON.stringify(url)});
      console.log(await reply.text());`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '-e', code],
      { env: { ...process.env, NODE_EXTRA_CA_CERTS: fixture('localhost-certificate.pem') } },
    );
    expect(stdout).toBe('safe\n');
  });
});

describe('the chat client on such replies', () => {
  const ask = (baseUrl: string) =>
    createChatClient({ baseUrl, model: 'm' }, { retries: 0, firstDelayMs: 1 }).ask({
      messages: [{ role: 'user', content: 'hi' }],
    });

  it('reads an encoded completion', async () => {
    const body = JSON.stringify({ choices: [{ message: { content: 'fine' }, finish_reason: 'stop' }] });
    const url = await serve(encoded('br', zlib.brotliCompressSync(body)));
    expect(await ask(url)).toMatchObject([{ text: 'fine' }]);
  });

  it('says what is wrong with one that cannot be decoded', async () => {
    await expect(ask(await serve(encoded('zstd', Buffer.from('x'))))).rejects.toMatchObject({
      reason: 'malformed',
      message: expect.stringContaining('encoded in a way that is not known'),
    });
  });

  it('says that a stream is one', async () => {
    const url = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: {}\n\n');
    });
    await expect(ask(url)).rejects.toMatchObject({
      reason: 'malformed',
      message: expect.stringContaining('event stream'),
    });
  });
});
