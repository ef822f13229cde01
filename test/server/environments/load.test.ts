import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createAgentGymFamily, type TextObservation, textFamily } from '../../../src/env/index.ts';
import { serve } from './served.ts';

const INSTANCES = 512;
const MiB = 1024 * 1024;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes in use after a full collection. */
async function heap(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  return process.memoryUsage().heapUsed;
}

describe('512 instances of TextCraft at once', () => {
  it('each plays its own episode, and nothing is left of them', { timeout: 240_000 }, async () => {
    const native = textFamily('textcraft');
    const server = await serve(native);
    const remote = createAgentGymFamily({
      environment: 'textcraft',
      baseUrl: server.url,
      tasks: native.tasks,
      concurrency: 256,
    });
    // Episodes with the same task differ in their seed, so that no two of them are alike.
    const episodes = Array.from({ length: INSTANCES }, (_, i) => {
      const task = i % native.tasks;
      return { task, seed: i, actions: (native.expert(task, i) as string[]).slice(0, 2) };
    });
    const expected = await Promise.all(
      episodes.map(async ({ task, seed, actions }) => {
        const environment = native.create();
        const seen = [await environment.reset(task, seed)];
        for (const action of actions) seen.push(await environment.step(action));
        return seen;
      }),
    );
    let mostOpen = 0;
    async function round(): Promise<void> {
      const environments = episodes.map(() => remote.create());
      const seen: TextObservation[][] = await Promise.all(
        episodes.map(async ({ task, seed }, i) => [await environments[i]!.reset(task, seed)]),
      );
      mostOpen = server.instances;
      await Promise.all(
        episodes.map(async ({ actions }, i) => {
          for (const action of actions) seen[i]!.push(await environments[i]!.step(action));
        }),
      );
      await Promise.all(environments.map((environment) => environment.close()));
      expect(seen).toEqual(expected);
    }
    await round();
    const before = await heap();
    await round();
    const after = await heap();
    expect(mostOpen).toBe(INSTANCES);
    expect(server.instances).toBe(0);
    expect(remote.counts).toMatchObject({
      created: 2 * INSTANCES,
      closed: 2 * INSTANCES,
      freshInstances: 0,
      closeFailures: 0,
      failedRequests: { timeout: 0, unreachable: 0 },
    });
    // A world with its command list takes some kilobytes: 512 that were kept would show.
    expect((after - before) / MiB).toBeLessThan(2);
  });
});
