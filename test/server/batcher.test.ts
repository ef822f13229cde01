import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Batcher, type BatcherOptions } from '../../src/server/batching/batcher.ts';

/** A batcher of texts; batches are recorded and end when the test says so. */
function recorded(options: Partial<BatcherOptions<string, string>> = {}) {
  const batches: { items: string[]; signal: AbortSignal; end: (failure?: Error) => void }[] = [];
  const batcher = new Batcher<string, string>({
    maxItems: 4,
    windowMs: 0,
    slots: 1,
    keyOf: (item) => item[0]!,
    run: (items, signal) =>
      new Promise((resolve, reject) => {
        const end = (failure?: Error) =>
          failure === undefined ? resolve(items.map((item) => item.toUpperCase())) : reject(failure);
        batches.push({ items, signal, end });
      }),
    ...options,
  });
  const add = (item: string, signal = new AbortController().signal) => batcher.add(item, signal);
  return { batcher, batches, add };
}
const turn = () => delay(5);

describe('batches', () => {
  it('fill up while another one runs, and hold one key alone, oldest first', async () => {
    const { batches, add } = recorded();
    const all = ['a1', 'b1', 'a2', 'b2', 'a3'].map((item) => add(item));
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([['a1']]);
    batches[0]!.end();
    await turn();
    expect(batches[1]!.items).toEqual(['b1', 'b2']);
    batches[1]!.end();
    await turn();
    expect(batches[2]!.items).toEqual(['a2', 'a3']);
    batches[2]!.end();
    expect(await Promise.all(all)).toEqual(['A1', 'B1', 'A2', 'B2', 'A3']);
  });

  it('have 1, 2, 4, ... items and at most the limit', async () => {
    const { batches, add } = recorded();
    void add('a0');
    for (let i = 1; i <= 7; i++) void add(`a${i}`);
    for (let i = 0; i < 4; i++) {
      await turn();
      batches[i]!.end();
    }
    expect(batches.map(({ items }) => items.length)).toEqual([1, 4, 2, 1]);
  });

  it('wait for the window when they are not full, and not when they are', async () => {
    const { batches, add } = recorded({ windowMs: 60_000 });
    for (const item of ['a1', 'a2', 'a3']) void add(item);
    await turn();
    expect(batches).toHaveLength(0);
    void add('a4');
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([['a1', 'a2', 'a3', 'a4']]);
  });

  it('run in as many slots as there are', async () => {
    const { batches, add } = recorded({ slots: 2 });
    for (const item of ['a1', 'b1', 'c1']) void add(item);
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([['a1'], ['b1']]);
  });
});

describe('an item that is given up', () => {
  it('leaves the queue and rejects with the reason at once', async () => {
    const { batches, add } = recorded();
    void add('a1');
    const controller = new AbortController();
    const left = add('a2', controller.signal);
    void add('a3');
    controller.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    batches[0]!.end();
    await turn();
    expect(batches[1]!.items).toEqual(['a3']);
  });

  it('stops its batch only when nobody else waits for it', async () => {
    const { batches, add } = recorded({ windowMs: 20 });
    const [first, second] = [new AbortController(), new AbortController()];
    const results = [add('a1', first.signal), add('a2', second.signal)].map((one) => one.catch(() => 'left'));
    await delay(50);
    first.abort();
    expect(batches[0]!.signal.aborted).toBe(false);
    second.abort();
    expect(batches[0]!.signal.aborted).toBe(true);
    expect(await Promise.all(results)).toEqual(['left', 'left']);
  });
});

describe('failures', () => {
  it('of a batch reach each of its items, and the next batch runs', async () => {
    const { batches, add } = recorded({ windowMs: 20 });
    const failed = [add('a1'), add('a2')].map((one) => one.catch((error: Error) => error.message));
    await delay(50);
    const next = add('b1');
    batches[0]!.end(new Error('broken'));
    expect(await Promise.all(failed)).toEqual(['broken', 'broken']);
    await delay(50);
    batches[1]!.end();
    expect(await next).toBe('B1');
  });

  it('of one item leave the others their results', async () => {
    const { add } = recorded({
      windowMs: 20,
      run: async (items) => items.map((item) => (item === 'a2' ? new Error('bad') : item)),
    });
    const results = ['a1', 'a2'].map((item) => add(item).catch((error: Error) => error.message));
    expect(await Promise.all(results)).toEqual(['a1', 'bad']);
  });
});

it('is drained when nothing waits and nothing runs', async () => {
  const { batcher, batches, add } = recorded();
  void add('a1');
  void add('b1');
  let drained = false;
  void batcher.drained().then(() => {
    drained = true;
  });
  await turn();
  batches[0]!.end();
  await turn();
  expect(drained).toBe(false);
  batches[1]!.end();
  await turn();
  expect(drained).toBe(true);
});
