import { describe, expect, it } from 'vitest';
import type { LogEntry } from '../../../src/server/index.ts';
import { echoFamily } from '../../env/text/agentgym/echo-family.ts';
import { call, create, serve } from './served.ts';

const error = (code: string, message: unknown = expect.any(String)) => ({ error: message, code });

async function instance(url: string, task = 0): Promise<number> {
  const { id } = (await create(url)) as { id: number };
  await call(`${url}/reset`, { id, data_idx: task });
  return id;
}

describe('a request that cannot be carried out', () => {
  it.each([
    ['broken JSON', '{"id": 1', 422, error('BAD_REQUEST', 'the body is no JSON')],
    ['a list', [1], 422, error('BAD_REQUEST')],
    ['no id', { action: 'a' }, 422, error('BAD_REQUEST', expect.stringContaining('id: '))],
    ['an id that is a text', { id: '1', action: 'a' }, 422, error('BAD_REQUEST')],
    ['an id with a fraction', { id: 1.5, action: 'a' }, 422, error('BAD_REQUEST')],
    [
      'an action that is a number',
      { id: 1, action: 7 },
      422,
      error('BAD_REQUEST', expect.stringContaining('action: ')),
    ],
    [
      'an unknown id',
      { id: 1, action: 'a' },
      404,
      error('UNKNOWN_ID', expect.stringContaining('The id 1 is not valid')),
    ],
    [
      'too many bytes',
      { id: 1, action: 'a'.repeat(2000) },
      413,
      error('TOO_LARGE', 'a request may have 1000 bytes'),
    ],
  ])('%s is refused with its status', async (_name, body, status, reply) => {
    const { url } = await serve(echoFamily('babyai'), { bodyBytes: 1000 });
    expect(await call(`${url}/step`, body)).toEqual([status, reply]);
  });

  it('never repeats what a client sent', async () => {
    const { url } = await serve(echoFamily('babyai'));
    const [, reply] = await call(`${url}/step`, { id: 'sec%ret', action: ['sec%ret'] });
    expect(JSON.stringify(reply)).not.toContain('sec%ret');
  });

  it('has 200 and an error in the body where the server is told to do as those of AgentGym', async () => {
    const { url } = await serve(echoFamily('babyai'), { errors: 'body' });
    expect(await call(`${url}/step`, { id: 3, action: 'a' })).toEqual([
      200,
      error('UNKNOWN_ID', expect.stringContaining('The id 3 is not valid')),
    ]);
  });

  it('before the reset or after the end leaves the instance as it is', async () => {
    const { url } = await serve(echoFamily('babyai'));
    const { id } = (await create(url)) as { id: number };
    expect(await call(`${url}/step`, { id, action: 'a' })).toEqual([409, error('NOT_BEGUN')]);
    await call(`${url}/reset`, { id, data_idx: 0 });
    await call(`${url}/step`, { id, action: 'finish' });
    expect(await call(`${url}/step`, { id, action: 'a' })).toEqual([
      409,
      error('FINISHED', `The task with environment ${id} has finished.`),
    ]);
    expect((await call(`${url}/reset`, { id, data_idx: 1 }))[0]).toBe(200);
  });

  it('names addresses and methods that there are not', async () => {
    const { url } = await serve(echoFamily('babyai'));
    expect(await call(`${url}/stap`, {})).toEqual([404, error('NOT_FOUND')]);
    expect(await call(`${url}/step`)).toEqual([405, error('METHOD_NOT_ALLOWED')]);
  });

  it('of a page of another origin is refused', async () => {
    const { url } = await serve(echoFamily('babyai'));
    const headers = { origin: 'http://elsewhere.example' };
    const response = await fetch(`${url}/create`, { method: 'POST', headers });
    expect([response.status, await response.json()]).toEqual([403, error('FORBIDDEN')]);
  });
});

describe('a world that throws', () => {
  it('is a status of 500, not a reward; the instance is closed and the log says where', async () => {
    const log: LogEntry[] = [];
    const family = echoFamily('babyai');
    const server = await serve(family, {}, (entry) => log.push(entry));
    const id = await instance(server.url);
    const other = await instance(server.url);
    expect(await call(`${server.url}/step`, { id, action: 'break' })).toEqual([500, error('INTERNAL')]);
    expect(await call(`${server.url}/step`, { id, action: 'a' })).toEqual([404, error('UNKNOWN_ID')]);
    expect((await call(`${server.url}/step`, { id: other, action: 'a' }))[0]).toBe(200);
    expect([server.instances, family.alive.size]).toEqual([1, 1]);
    expect(log).toContainEqual(
      expect.objectContaining({ event: 'defect', route: '/step', error: 'RangeError' }),
    );
  });
});

describe('limits', () => {
  it('refuse another instance, and allow it when one is closed', async () => {
    const { url } = await serve(echoFamily('babyai'), { instances: 2 });
    const first = await instance(url);
    await instance(url);
    const response = await fetch(`${url}/create`, { method: 'POST' });
    expect([response.status, response.headers.get('retry-after'), await response.json()]).toEqual([
      503,
      '1',
      error('TOO_MANY_INSTANCES', 'all 2 instances of this server are open: close some, or raise its limit'),
    ]);
    await call(`${url}/close`, { id: first });
    expect(await create(url)).toEqual({ id: expect.any(Number) });
  });
});

describe('requests for one instance', () => {
  it('are carried out one after the other, each once', async () => {
    const { url } = await serve(echoFamily('babyai'));
    const id = await instance(url, 4);
    const letters = [...'abcdefghijklmnopqrst'];
    const replies = await Promise.all(letters.map((action) => call(`${url}/step`, { id, action })));
    const heard = replies
      .map(([, reply]) => (reply as { observation: string }).observation.split('heard ')[1] as string)
      .sort((a, b) => a.length - b.length);
    // Each saw all before it, and the last saw every letter once.
    heard.slice(1).forEach((text, i) => {
      expect(text.startsWith(`${heard[i]}, `)).toBe(true);
    });
    expect(heard.at(-1)?.split(', ').sort()).toEqual(letters);
  });
});

describe('stopping', () => {
  it('closes every instance', async () => {
    const family = echoFamily('babyai');
    const server = await serve(family);
    await Promise.all([0, 1, 2].map((task) => instance(server.url, task)));
    expect(family.alive.size).toBe(3);
    await server.stop();
    expect([server.instances, family.alive.size]).toEqual([0, 0]);
    await expect(fetch(server.url)).rejects.toThrow();
  });
});

describe('/metrics', () => {
  it('counts instances, episodes and errors', async () => {
    const { url } = await serve(echoFamily('babyai'));
    const id = await instance(url);
    await instance(url);
    await call(`${url}/step`, { id, action: 'finish' });
    await call(`${url}/close`, { id });
    await call(`${url}/step`, { id, action: 'a' });
    const text = await (await fetch(`${url}/metrics`)).text();
    for (const line of [
      'q_ponder_environment_instances 1',
      'q_ponder_environment_instances_total{event="created"} 2',
      'q_ponder_environment_instances_total{event="finished"} 1',
      'q_ponder_environment_instances_total{event="closed"} 1',
      'q_ponder_environment_errors_total{code="UNKNOWN_ID"} 1',
      'q_ponder_environment_requests_total{route="/step",status="404"} 1',
    ]) {
      expect(text.split('\n')).toContain(line);
    }
  });
});
