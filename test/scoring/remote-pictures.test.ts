import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import sharp from 'sharp';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openPicture } from '../../src/scoring/index.ts';
import { type AddressPolicy, addressOf, isPublicAddress } from '../../src/scoring/inputs/addresses.ts';
import { fetchPicture } from '../../src/scoring/inputs/remote.ts';

const RULES = { maxBytes: 10_000, timeoutMs: 20_000 };
const servers: Server[] = [];
let png: Buffer;

beforeAll(async () => {
  png = await sharp({ create: { width: 4, height: 4, channels: 3, background: '#123456' } })
    .png()
    .toBuffer();
});
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** Names of the test lead to this machine, and 127.0.0.1 counts as public; every other rule stays. */
const policy = (names: Record<string, string[]> = {}): AddressPolicy & { asked: string[] } => {
  const asked: string[] = [];
  return {
    asked,
    resolve: async (host) => {
      asked.push(host);
      return (names[host] ?? ['127.0.0.1']).map((address) => ({ address, family: 4 }));
    },
    allows: (address) => address === '127.0.0.1' || isPublicAddress(address),
  };
};

const get = (url: string, use: AddressPolicy = policy(), rules = RULES, signal?: AbortSignal) =>
  fetchPicture(new URL(url), rules, signal, use);

describe('addresses', () => {
  it.each([
    '127.0.0.1',
    '127.8.9.1',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '192.0.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    'fe80::1',
    'fc00::1',
    'fd12::1',
    'fec0::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001:0:1::',
    '2001:db8::1',
    'no address',
  ])('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '::ffff:8.8.8.8'])(
    '%s is public',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  it('a name with one private address among public ones is refused', async () => {
    const mixed = policy({ 'trap.test': ['8.8.8.8', '10.0.0.7'] });
    await expect(addressOf('trap.test', mixed)).rejects.toMatchObject({
      code: 'INPUT',
      message: 'trap.test leads to 10.0.0.7, which is no public address',
    });
  });
});

describe('with nothing but allowHttp, this machine stays out of reach', () => {
  it.each([
    'http://127.0.0.1',
    'http://localhost',
    'http://[::1]',
    'http://2130706433',
    'http://0x7f.1',
    'http://0177.0.0.1',
    'http://127.1',
    'http://[::ffff:127.0.0.1]',
    'http://[::ffff:7f00:1]',
    'http://0',
  ])('%s', async (origin) => {
    let requests = 0;
    const port = await serve((_, response) => {
      requests += 1;
      response.end(png);
    });
    await expect(openPicture(`${origin}:${port}/x.png`, { allowHttp: true })).rejects.toMatchObject({
      code: 'INPUT',
      message: expect.stringContaining('which is no public address'),
    });
    expect(requests).toBe(0);
  });

  it('the metadata address of clouds is refused without a connection', async () => {
    await expect(openPicture('http://169.254.169.254/latest/meta-data', { allowHttp: true })).rejects.toThrow(
      '169.254.169.254, which is no public address',
    );
  });
});

describe('fetching', () => {
  it('gives the bytes; the name is resolved once, and goes out as the host', async () => {
    const hosts: (string | undefined)[] = [];
    const port = await serve(({ headers }, response) => {
      hosts.push(headers.host);
      response.end(png);
    });
    const use = policy();
    expect(await get(`http://pictures.test:${port}/a.png`, use)).toEqual(png);
    expect(use.asked).toEqual(['pictures.test']);
    expect(hosts).toEqual([`pictures.test:${port}`]);
  });

  it('connects to the checked address although the name moves inside a moment later', async () => {
    const port = await serve((_, response) => response.end(png));
    let times = 0;
    const moving: AddressPolicy = {
      resolve: async () => [{ address: times++ === 0 ? '127.0.0.1' : '10.0.0.1', family: 4 }],
      allows: (address) => address === '127.0.0.1',
    };
    expect(await get(`http://rebind.test:${port}/`, moving)).toEqual(png);
    expect(times).toBe(1);
  });

  it('follows a redirect, and checks its address again', async () => {
    const port = await serve(({ url }, response) => {
      if (url === '/to-picture') response.writeHead(302, { location: '/picture' }).end();
      else if (url === '/to-inside') response.writeHead(307, { location: 'http://192.168.0.1/admin' }).end();
      else if (url === '/to-name') response.writeHead(301, { location: 'http://inside.test/' }).end();
      else if (url === '/to-file') response.writeHead(302, { location: 'file:///etc/passwd' }).end();
      else if (url === '/to-password') response.writeHead(302, { location: 'http://a:b@c.test/' }).end();
      else if (url === '/loop') response.writeHead(302, { location: '/loop' }).end();
      else response.end(png);
    });
    const use = policy({ 'inside.test': ['10.0.0.1'] });
    const from = (path: string) => get(`http://127.0.0.1:${port}${path}`, use);
    expect(await from('/to-picture')).toEqual(png);
    await expect(from('/to-inside')).rejects.toThrow('192.168.0.1, which is no public address');
    await expect(from('/to-name')).rejects.toThrow('inside.test leads to 10.0.0.1');
    await expect(from('/to-file')).rejects.toThrow('file: URLs are not fetched');
    await expect(from('/to-password')).rejects.toThrow('user name or password');
    await expect(from('/loop')).rejects.toMatchObject({
      code: 'REMOTE',
      message: expect.stringContaining('redirects more than 5 times'),
    });
  });

  it.each([
    ['a length that is too great', { 'content-length': '20000' }],
    ['no length', {}],
  ])('too many bytes, told by %s', async (_what, headers) => {
    const port = await serve((_, response) => {
      response.writeHead(200, headers);
      response.end(Buffer.alloc(20_000));
    });
    await expect(get(`http://a.test:${port}/`)).rejects.toMatchObject({
      code: 'INPUT',
      message: expect.stringContaining('more than the 10000 bytes allowed'),
    });
  });

  it.each([
    ['the head', false],
    ['the body', true],
  ])('a server that never finishes %s: a timeout', async (_what, begin) => {
    const port = await serve((_, response) => {
      if (begin) response.writeHead(200).write('x');
    });
    await expect(get(`http://a.test:${port}/`, policy(), { ...RULES, timeoutMs: 150 })).rejects.toMatchObject(
      {
        code: 'REMOTE',
        reason: 'timeout',
      },
    );
  });

  it('an abort has the reason of the signal', async () => {
    const controller = new AbortController();
    const port = await serve(() => controller.abort(new Error('enough')));
    await expect(get(`http://a.test:${port}/`, policy(), RULES, controller.signal)).rejects.toThrow('enough');
  });

  it.each([
    [404, 'not-found'],
    [403, 'authentication'],
    [429, 'rate-limit'],
    [503, 'server'],
    [418, 'bad-request'],
    [206, 'bad-request'],
  ])('HTTP %i is a RemoteError', async (status, reason) => {
    const port = await serve((_, response) => response.writeHead(status).end('text'));
    await expect(get(`http://a.test:${port}/x?secret=1`)).rejects.toMatchObject({
      code: 'REMOTE',
      reason,
      status,
      message: `http://a.test:${port}/x answered with HTTP ${status}`,
    });
  });

  it('a compressed reply is refused: its size would be another than its limit', async () => {
    const port = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(png),
    );
    await expect(get(`http://a.test:${port}/`)).rejects.toMatchObject({
      code: 'REMOTE',
      reason: 'malformed',
    });
  });

  it('nobody there is a RemoteError', async () => {
    const port = await serve(() => undefined);
    for (const server of servers.splice(0)) server.close();
    await expect(get(`http://a.test:${port}/`)).rejects.toMatchObject({
      code: 'REMOTE',
      reason: 'unreachable',
    });
  });
});
