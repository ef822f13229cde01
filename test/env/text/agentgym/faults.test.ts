import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type AgentGymFamily,
  type AgentGymOptions,
  createAgentGymFamily,
  EnvironmentFailure,
  type EnvironmentReason,
} from '../../../../src/env/index.ts';
import { type Answer, type ScriptedServer, scriptedServer } from './scripted-server.ts';

let server: ScriptedServer | undefined;
let families: AgentGymFamily[] = [];
afterEach(async () => {
  await Promise.all(families.map((family) => family.close()));
  families = [];
  await server?.close();
});

/** Answers of TextCraft's server for a world that tells its instance's actions so far. */
function textcraft(
  fault: (line: string, nth: number, heard: readonly string[]) => Answer | undefined = () => undefined,
) {
  const instances = new Map<number, string[]>();
  let next = 0;
  return scriptedServer((line, body, nth) => {
    const { id, action } = (body ?? {}) as { id?: number; action?: string };
    const heard = id === undefined ? [] : (instances.get(id) ?? []);
    const failed = fault(line, nth, heard);
    if (failed !== undefined) return failed;
    const observed = { reward: 0, done: false };
    switch (line) {
      case 'POST /create':
        instances.set(next, []);
        return { json: { id: next++, observation: '', ...observed } };
      case 'POST /reset':
        heard.length = 0;
        return { json: { id, observation: 'begin', ...observed } };
      case 'POST /step': {
        heard.push(action as string);
        const done = action === 'last';
        return { json: { observation: heard.join(' '), reward: done ? 1 : 0, done } };
      }
      default:
        return { json: instances.delete(id as number) };
    }
  });
}

function connect(options: Partial<AgentGymOptions> = {}): AgentGymFamily {
  const family = createAgentGymFamily({
    environment: 'textcraft',
    baseUrl: server?.url ?? 'http://127.0.0.1:1',
    tasks: 10,
    firstDelayMs: 1,
    stepTimeoutMs: 5000,
    ...options,
  });
  families.push(family);
  return family;
}

const raw =
  (write: (response: ServerResponse) => void): Answer =>
  (_request, response) =>
    write(response);

/** Ways in which a step can fail, and the reason each is counted under. */
const FAULTS: readonly (readonly [name: string, answer: Answer, reason: EnvironmentReason])[] = [
  ['status 500', { status: 500, json: { detail: 'boom' } }, 'server'],
  ['status 200 with an error body', { json: { error: 'boom' } }, 'server'],
  ['an unknown id, as AgentGym says it', { json: { error: 'The id 0 is not valid.' } }, 'server'],
  ['an unknown id, with a status', { status: 404, json: { error: 'The id 0 is not valid.' } }, 'server'],
  ['a page of HTML', raw((response) => response.end('<html>Bad gateway</html>')), 'malformed'],
  ['cut JSON', raw((response) => response.end('{"observation": "a", "rew')), 'malformed'],
  [
    'NaN, as Python writes it',
    raw((response) => response.end('{"observation":"","reward":NaN,"done":false}')),
    'malformed',
  ],
  ['a reward that is a text', { json: { observation: 'a', reward: '0', done: false } }, 'malformed'],
  ['no reward', { json: { observation: 'a', done: false } }, 'malformed'],
  ['done that is a number', { json: { observation: 'a', reward: 0, done: 0 } }, 'malformed'],
  ['a list', { json: ['a', 0, false] }, 'malformed'],
  ['an empty reply', raw((response) => response.end()), 'malformed'],
  ['a connection that breaks', raw((response) => response.destroy()), 'unreachable'],
  [
    'a reply that breaks off',
    raw((response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"observation"');
      setImmediate(() => response.destroy());
    }),
    'unreachable',
  ],
];

describe('a step that fails once', () => {
  it.each(FAULTS)('by %s goes on on a fresh instance, in the same place', async (_name, answer, reason) => {
    let failures = 0;
    server = await textcraft((line, _nth, heard) =>
      line === 'POST /step' && heard.length === 2 && failures++ === 0 ? answer : undefined,
    );
    const family = connect();
    const environment = family.create();
    await environment.reset(3);
    for (const action of ['one', 'two', 'three']) await environment.step(action);
    expect(await environment.step('last')).toEqual({ text: 'one two three last', reward: 1, done: true });
    await environment.close();
    await family.close();
    expect(family.counts).toMatchObject({ created: 2, freshInstances: 1, replayedActions: 2 });
    expect(family.counts.closed + family.counts.closeFailures).toBe(2);
    expect(family.counts.failedRequests[reason]).toBeGreaterThan(0);
    expect(Object.values(family.counts.failures)).toEqual([0, 0, 0, 0, 0]);
    // The one that failed is closed when it is given up, not at the end.
    const closings = server.seen.filter(({ line }) => line === 'POST /close').map(({ body }) => body);
    expect(closings).toEqual([{ id: 0 }, { id: 1 }]);
    // On the fresh instance: the reset of the same task, then the actions so far, then the one that failed.
    const fresh = server.seen
      .filter(({ body }) => (body as { id?: number }).id === 1)
      .map(({ body }) => body);
    expect(fresh).toEqual([
      { id: 1, data_idx: 3 },
      ...['one', 'two', 'three', 'last'].map((action) => ({ id: 1, action })),
      { id: 1 },
    ]);
  });
});

describe('a step that always fails', () => {
  it.each(FAULTS)(
    'by %s is a failure with its reason, after the fresh instances',
    async (_name, answer, reason) => {
      server = await textcraft((line) => (line === 'POST /step' ? answer : undefined));
      const family = connect({ retries: 1 });
      const environment = family.create();
      await environment.reset(0);
      const failure: unknown = await environment.step('one').catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(EnvironmentFailure);
      expect(failure).toMatchObject({ code: 'REMOTE', reason, environment: 'textcraft' });
      expect(family.counts.failures).toMatchObject({ [reason]: 1 });
      // The episode is over: nothing more is asked of the server, until a reset.
      await expect(environment.step('one')).rejects.toMatchObject({ reason: 'state' });
      expect(await environment.reset(1)).toEqual({ text: 'begin', reward: 0, done: false });
      await environment.close();
      await family.close();
      expect(family.counts).toMatchObject({ created: 3 });
      expect(family.counts.closed + family.counts.closeFailures).toBe(3);
    },
  );

  it('says what the server said, on one line', async () => {
    server = await textcraft((line) =>
      line === 'POST /step' ? { status: 500, json: { detail: 'out of\nmemory' } } : undefined,
    );
    const environment = connect({ retries: 0 }).create();
    await environment.reset(4);
    await expect(environment.step('one')).rejects.toThrow(
      'environment textcraft: step 1 of task 4: the server failed (HTTP 500): "out of memory"',
    );
  });

  it('is not tried on fresh instances where the world would be another', async () => {
    server = await textcraft((line) => (line === 'POST /step' ? { json: { error: 'boom' } } : undefined));
    const family = connect({ replay: false });
    const environment = family.create();
    await environment.reset(0);
    await expect(environment.step('one')).rejects.toMatchObject({ reason: 'server' });
    expect(family.counts).toMatchObject({ created: 1, freshInstances: 0 });
  });
});

describe('a stall', () => {
  it('ends with the time allowed, and the episode goes on on a fresh instance', async () => {
    let stalls = 0;
    server = await textcraft((line) =>
      line === 'POST /step' && stalls++ === 0 ? () => undefined : undefined,
    );
    const family = connect({ stepTimeoutMs: 100 });
    const environment = family.create();
    await environment.reset(0);
    expect((await environment.step('one')).text).toBe('one');
    expect(family.counts.failedRequests).toMatchObject({ timeout: 1 });
  });

  it('in the middle of a body is a timeout as well', async () => {
    const half = raw((response) => {
      response.writeHead(200);
      response.write('{"observation": "a"');
    });
    server = await textcraft((line) => (line === 'POST /step' ? half : undefined));
    const environment = connect({ stepTimeoutMs: 60, retries: 0 }).create();
    await environment.reset(0);
    await expect(environment.step('one')).rejects.toMatchObject({ reason: 'timeout' });
  });

  it('ends at once when the caller stops; the instance is closed', async () => {
    const stop = new AbortController();
    const reason = new Error('the user stops');
    server = await textcraft((line) => {
      if (line !== 'POST /step') return undefined;
      setTimeout(() => stop.abort(reason), 10);
      return () => undefined;
    });
    const family = connect({ signal: stop.signal });
    const environment = family.create();
    await environment.reset(0);
    await expect(environment.step('one')).rejects.toBe(reason);
    await environment.close();
    await family.close();
    expect(server.seen.at(-1)).toEqual({ line: 'POST /close', body: { id: 0 } });
    expect(family.counts).toMatchObject({ closed: 1, freshInstances: 0 });
  });
});

describe('beginning a task', () => {
  it('is tried on a fresh instance', async () => {
    let failures = 0;
    server = await textcraft((line) =>
      line === 'POST /reset' && failures++ === 0 ? { json: { error: 'boom' } } : undefined,
    );
    const family = connect();
    expect((await family.create().reset(2)).text).toBe('begin');
    expect(family.counts).toMatchObject({ created: 2, freshInstances: 1 });
  });

  it('fails where nothing listens', async () => {
    const family = connect({ baseUrl: 'http://127.0.0.1:1', retries: 1 });
    await expect(family.create().reset(0)).rejects.toMatchObject({
      reason: 'unreachable',
      hint: 'check that the server runs and that address and port are right',
    });
    expect(family.counts.failedRequests).toMatchObject({ unreachable: 2 });
  });

  it('is not repeated where the server is of another kind', async () => {
    server = await scriptedServer(() => ({ status: 404, json: { detail: 'Not Found' } }));
    const family = connect();
    await expect(family.create().reset(0)).rejects.toMatchObject({ reason: 'server' });
    expect(family.counts.requests).toBe(1);
  });

  it('is tried again where the server had no place', async () => {
    let full = true;
    server = await textcraft((line) => {
      if (line !== 'POST /create' || !full) return undefined;
      full = false;
      return { status: 503, json: { error: 'full' }, headers: { 'retry-after': '0' } };
    });
    const family = connect();
    expect((await family.create().reset(0)).text).toBe('begin');
    expect(family.counts).toMatchObject({
      created: 1,
      failedRequests: { server: 1 },
      failures: { server: 0 },
    });
  });
});

describe('a world that does not repeat itself', () => {
  it('drops the episode instead of going on elsewhere', async () => {
    let steps = 0;
    server = await textcraft((line) => {
      if (line !== 'POST /step') return undefined;
      steps++;
      if (steps === 2) return { json: { error: 'boom' } };
      return { json: { observation: `step ${steps}`, reward: 0, done: false } };
    });
    const family = connect();
    const environment = family.create();
    await environment.reset(0);
    await environment.step('one');
    await expect(environment.step('two')).rejects.toThrow(
      'a fresh instance does not repeat the episode: it answers action 1 otherwise than before',
    );
    expect(family.counts.failures).toMatchObject({ server: 1 });
  });
});

describe('the order of calls', () => {
  it('is kept without asking the server', async () => {
    server = await textcraft();
    const environment = connect().create();
    await expect(environment.step('one')).rejects.toThrow('no step is possible: it was not reset');
    await environment.reset(0);
    await environment.step('last');
    await expect(environment.step('one')).rejects.toThrow('no step is possible: the episode is over');
    expect(await environment.availableActions()).toEqual([]);
    await environment.close();
    await environment.close();
    await expect(environment.reset(0)).rejects.toThrow('no step is possible: it is closed');
    expect(server.seen.map(({ line }) => line)).toEqual([
      'POST /create',
      'POST /reset',
      'POST /step',
      'POST /close',
    ]);
  });
});

describe('closing', () => {
  it('never fails, and a server that does not confirm it is counted', async () => {
    server = await textcraft((line) => (line === 'POST /close' ? { json: { error: 'boom' } } : undefined));
    const family = connect();
    const environment = family.create();
    await environment.reset(0);
    await environment.close();
    expect(family.counts).toMatchObject({ closed: 0, closeFailures: 1 });
  });

  it('of the family closes what is open', async () => {
    server = await textcraft();
    const family = connect();
    await Promise.all([0, 1, 2].map((task) => family.create().reset(task)));
    await family.close();
    expect(family.counts).toMatchObject({ created: 3, closed: 3 });
  });
});

describe('the number of requests in flight', () => {
  it('is never above the limit', async () => {
    let inFlight = 0;
    let most = 0;
    server = await textcraft((line) => {
      if (line !== 'POST /create') return undefined;
      most = Math.max(most, ++inFlight);
      return (_request, response) =>
        setTimeout(() => {
          inFlight--;
          response.end(JSON.stringify({ id: 0, observation: '', reward: 0, done: false }));
        }, 2);
    });
    const family = connect({ concurrency: 3 });
    await Promise.all(Array.from({ length: 12 }, () => family.create().reset(0)));
    expect(most).toBe(3);
  });
});
