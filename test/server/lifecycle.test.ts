import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LogEntry, RunningServer } from '../../src/server/index.ts';
import { BASE_MODEL, jpeg, postBytes, postJson, start } from './server-fixture.ts';

let server: RunningServer | undefined;
let folder: string;
let picture: Buffer;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'q-ponder-serve-'));
  await cp(BASE_MODEL, folder, { recursive: true });
  picture = await jpeg();
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
  await rm(folder, { recursive: true, force: true });
});

/** Sends one picture after another until told to stop; the statuses of the replies. */
function steadily(url: string): { stop(): Promise<number[]> } {
  let going = true;
  const statuses: number[] = [];
  const work = (async () => {
    while (going) statuses.push((await postBytes(`${url}/v1/score`, picture)).status);
  })();
  return {
    async stop() {
      going = false;
      await work;
      return statuses;
    },
  };
}

async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

describe('a reload', () => {
  it('drops no request, and the new weights answer afterwards', async () => {
    server = await start({ model: folder, settings: { security: { allowReload: true } } });
    const clients = [1, 2, 3].map(() => steadily(server!.url));
    const before = (await postBytes(`${server.url}/v1/score`, picture)).body.provenance.modelSha256;
    // Other bytes of the same weights: a header of safetensors may be followed by spaces.
    const { readFile } = await import('node:fs/promises');
    const weights = await readFile(join(folder, 'model.safetensors'));
    const headerLength = Number(weights.readBigUInt64LE(0));
    const header = JSON.parse(weights.toString('utf8', 8, 8 + headerLength));
    header.__metadata__ = { ...header.__metadata__, reloaded: 'yes' };
    const text = Buffer.from(JSON.stringify(header));
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(text.length));
    await writeFile(
      join(folder, 'model.safetensors'),
      Buffer.concat([length, text, weights.subarray(8 + headerLength)]),
    );
    const { status, body } = await postJson(`${server.url}/v1/models/reload`, {});
    expect(status).toBe(200);
    await delay(300);
    const statuses = (await Promise.all(clients.map((client) => client.stop()))).flat();
    expect(statuses.length).toBeGreaterThan(5);
    expect(new Set(statuses)).toEqual(new Set([200]));
    const after = (await postBytes(`${server.url}/v1/score`, picture)).body.provenance.modelSha256;
    expect(after).toBe(body.modelSha256);
    expect(after).not.toBe(before);
  });

  it('of a broken folder fails and leaves the model in use', async () => {
    server = await start({ model: folder });
    await writeFile(join(folder, 'config.json'), 'broken');
    await expect(server.reload()).rejects.toMatchObject({ code: 'CHECKPOINT' });
    expect((await postBytes(`${server.url}/v1/score`, picture)).status).toBe(200);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  });
});

describe('stopping', () => {
  it('answers what is under way, then refuses connections', async () => {
    const log: LogEntry[] = [];
    server = await start({ model: folder, log: (entry) => log.push(entry) });
    const { url } = server;
    const slow = [1, 2, 3].map(() => postBytes(`${url}/v1/score?mode=greedy&maxNewTokens=64`, picture));
    await delay(60);
    const stopped = server.stop();
    const replies = await Promise.all(slow);
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    await stopped;
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
    expect(log.at(-1)).toEqual({ event: 'stopped' });
  });
});

it('a model folder that cannot be loaded, and a port in use, are told at once', async () => {
  await expect(start({ model: join(folder, 'nothing') })).rejects.toMatchObject({ code: 'CHECKPOINT' });
  server = await start({ model: folder });
  await expect(start({ model: folder, settings: { port: server.port } })).rejects.toMatchObject({
    code: 'STORAGE',
  });
});

it('requests beyond their deadline end with 504, and their places are free again', async () => {
  server = await start({ model: folder, settings: { requestTimeoutMs: 30 } });
  const { status, body } = await postBytes(`${server.url}/v1/score?mode=greedy&maxNewTokens=256`, picture);
  expect([status, body.error.code]).toEqual([504, 'DEADLINE']);
  expect(await metric(server.url, 'q_ponder_pictures_admitted')).toBe(0);
});

it('a client that goes away takes its work out of the queue', async () => {
  server = await start({ model: folder });
  const { url } = server;
  await postBytes(`${url}/v1/score`, picture);
  const passes = await metric(url, 'q_ponder_batch_size_count');
  const running = postBytes(`${url}/v1/score?mode=sampled&samples=8&maxNewTokens=256`, picture);
  const controller = new AbortController();
  const waiting = [1, 2, 3, 4].map((seed) =>
    fetch(`${url}/v1/score?mode=sampled&seed=${seed}&samples=8&maxNewTokens=256`, {
      method: 'POST',
      headers: { 'content-type': 'image/jpeg' },
      body: new Uint8Array(picture),
      signal: controller.signal,
    }).catch((error: Error) => error.name),
  );
  while ((await metric(url, 'q_ponder_pictures_admitted')) < 5) await delay(5);
  controller.abort();
  expect(await Promise.all(waiting)).toEqual(Array(4).fill('AbortError'));
  expect((await running).status).toBe(200);
  while ((await metric(url, 'q_ponder_pictures_admitted')) > 0) await delay(5);
  // The one that ran, and at most one that had begun; never all five.
  expect((await metric(url, 'q_ponder_batch_size_count')) - passes).toBeLessThanOrEqual(2);
});
