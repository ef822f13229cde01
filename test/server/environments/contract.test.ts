import { describe, expect, it } from 'vitest';
import {
  type AgentGymName,
  type AgentGymOptions,
  createAgentGymFamily,
  type TextEnvironmentFamily,
  type TextObservation,
  textFamily,
} from '../../../src/env/index.ts';
import { startEnvironmentServer } from '../../../src/server/index.ts';
import { echoFamily } from '../../env/text/agentgym/echo-family.ts';
import { call, create, serve } from './served.ts';

const connect = (environment: AgentGymName, baseUrl: string, options: Partial<AgentGymOptions> = {}) =>
  createAgentGymFamily({ environment, baseUrl, firstDelayMs: 1, ...options });

async function play(
  family: TextEnvironmentFamily,
  task: number,
  actions: readonly string[],
  seed?: number,
): Promise<TextObservation[]> {
  const environment = family.create();
  const seen = [await environment.reset(task, seed)];
  for (const action of actions) seen.push(await environment.step(action));
  await environment.close();
  return seen;
}

describe('our client at our server', () => {
  it.each([
    ['textcraft', [0, 40, 97]],
    ['maze', [0, 12, 24]],
  ] as const)('plays %s as in this process', async (name, tasks) => {
    const native = textFamily(name);
    const server = await serve(native);
    const remote = connect(name, server.url, { tasks: native.tasks });
    for (const task of tasks) {
      const actions = ['nonsense', ...(native.expert(task, 5) as string[])];
      const expected = await play(native, task, actions, 5);
      expect(expected.at(-1)).toMatchObject({ reward: 1, done: true });
      expect(await play(remote, task, actions, 5)).toEqual(expected);
    }
    expect(server.instances).toBe(0);
  });

  it('plays Wordle as in this process, after the words', async () => {
    const native = textFamily('wordle');
    const server = await serve(native);
    const remote = connect('wordle', server.url, { tasks: native.tasks });
    const actions = ['z z z z z', ...(native.expert(7) as string[])];
    const [opening, ...steps] = await play(remote, 7, actions);
    const [nativeOpening, ...nativeSteps] = await play(native, 7, actions, 0);
    expect(steps).toEqual(nativeSteps);
    expect(opening?.text).toMatch(/^The words are: [a-z]{5}(, [a-z]{5})+\.\n/);
    expect(opening?.text.endsWith(`\n${nativeOpening?.text}`)).toBe(true);
  });

  it.each(['textcraft', 'babyai', 'searchqa', 'sqlgym', 'maze', 'wordle'] as const)(
    'carries task, seed, actions, rewards and end over the protocol of %s',
    async (name) => {
      const native = echoFamily(name, 20);
      const server = await serve(native);
      const remote = connect(name, server.url, { tasks: 20 });
      const seen = await play(remote, 11, ['a b', 'penny', 'finish'], 6);
      const opening = name === 'wordle' ? 'The words are: say, finish.\n' : '';
      expect(seen).toEqual([
        { text: `${opening}task 11 seed 6 heard nothing`, reward: 0, done: false },
        { text: 'task 11 seed 6 heard a b', reward: 0, done: false },
        { text: 'task 11 seed 6 heard a b, penny', reward: 0.25, done: false },
        { text: 'task 11 seed 6 heard a b, penny, finish', reward: 1, done: true },
      ]);
      expect([server.instances, native.alive.size]).toEqual([0, 0]);
      expect(remote.counts).toMatchObject({ created: 1, closed: 1, closeFailures: 0 });
    },
  );

  it('goes on where errors come with status 200, as from the servers of AgentGym', async () => {
    const server = await serve(echoFamily('textcraft'), { errors: 'body' });
    // Ids follow one another: the next instance is the client's.
    const { id } = (await create(server.url)) as { id: number };
    const remote = connect('textcraft', server.url, { tasks: 20 });
    const environment = remote.create();
    await environment.reset(2);
    await environment.step('a');
    expect(await call(`${server.url}/close`, { id: id + 1 })).toEqual([200, true]);
    expect((await environment.step('b')).text).toBe('task 2 seed none heard a, b');
    await environment.close();
    expect(remote.counts).toMatchObject({ created: 2, freshInstances: 1, replayedActions: 1 });
  });

  it('drops the episode whose world throws each time, and plays the next one', async () => {
    const server = await serve(echoFamily('textcraft'));
    const remote = connect('textcraft', server.url, { tasks: 20, retries: 1 });
    const environment = remote.create();
    await environment.reset(2);
    await expect(environment.step('break')).rejects.toMatchObject({
      name: 'EnvironmentFailure',
      reason: 'server',
    });
    expect((await environment.reset(3)).text).toBe('task 3 seed none heard nothing');
    await environment.close();
    await remote.close();
    expect(server.instances).toBe(0);
  });

  it('waits for a place where all instances are open', async () => {
    const server = await serve(echoFamily('textcraft'), { instances: 1 });
    const remote = connect('textcraft', server.url, { tasks: 20, retries: 0 });
    const first = remote.create();
    await first.reset(0);
    await expect(remote.create().reset(1)).rejects.toThrow('all 1 instances of this server are open');
    await first.close();
    expect((await remote.create().reset(1)).text).toBe('task 1 seed none heard nothing');
    await remote.close();
  });
});

describe('a server that is started again', () => {
  it('loses its instances; episodes go on where they were, and no one meets the instance of another', async () => {
    const family = echoFamily('textcraft');
    const first = await startEnvironmentServer({ family, settings: { port: 0 } });
    const { port } = first;
    const remote = connect('textcraft', first.url, { tasks: 20, retries: 3 });
    const environments = await Promise.all(
      Array.from({ length: 8 }, async (_, task) => {
        const environment = remote.create();
        await environment.reset(task);
        await environment.step(`a${task}`);
        return environment;
      }),
    );
    await first.stop();
    await serve(echoFamily('textcraft'), { port });
    const texts = await Promise.all(
      environments.map(async (environment, task) => (await environment.step(`b${task}`)).text),
    );
    expect(texts).toEqual(environments.map((_, task) => `task ${task} seed none heard a${task}, b${task}`));
    expect(remote.counts).toMatchObject({ created: 16, replayedActions: 8 });
    await remote.close();
  });
});
