import { afterEach, describe, expect, it } from 'vitest';
import { InputError } from '../../src/core/index.ts';
import { StandingThread } from '../../src/server/threads/standing-thread.ts';
import { TaskThread } from '../../src/server/threads/task-thread.ts';

const ECHO = new URL('./fixtures/echo-thread.ts', import.meta.url);

describe('a thread', () => {
  let thread: TaskThread<unknown>;
  afterEach(() => thread.close());

  it('answers, tells before it answers, and passes errors on with class, code and hint', async () => {
    thread = new TaskThread(ECHO, {});
    expect(await thread.ready).toEqual({ opened: true });
    const told: unknown[] = [];
    expect(await thread.run({ say: 'hello' }, { onEvent: (event) => told.push(event) })).toBe('hello');
    expect(told).toEqual(['soon']);
    const error = await thread.run({ fail: 'bad picture' }).catch((one: unknown) => one);
    expect(error).toBeInstanceOf(InputError);
    expect(error).toMatchObject({ code: 'INPUT', message: 'bad picture', hint: 'mend it' });
  });

  it('lets go of a task whose signal aborts, and tells the thread', async () => {
    thread = new TaskThread(ECHO, {});
    await thread.ready;
    const controller = new AbortController();
    const waiting = thread.run({ wait: true }, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(await thread.run({ say: 'still here' })).toBe('still here');
    // The task that was given up has ended as well: only then does the thread close.
    await thread.close();
    expect(thread.load).toBe(0);
  });

  it('that cannot be opened says why', async () => {
    thread = new TaskThread(ECHO, { refuses: true });
    await expect(thread.ready).rejects.toMatchObject({ code: 'INPUT', message: 'will not open' });
  });

  it('that dies rejects what it held with a typed error', async () => {
    thread = new TaskThread(ECHO, {});
    await thread.ready;
    const held = thread.run({ wait: true }).catch((error: unknown) => error);
    const deadly = thread.run({ die: true }).catch((error: unknown) => error);
    expect(await held).toMatchObject({ code: 'WORKER_CRASHED', status: 503, retryAfter: 1 });
    expect(await deadly).toMatchObject({ code: 'WORKER_CRASHED' });
    expect(await thread.ended).toEqual({ crashed: true });
  });
});

it('a standing thread is followed by another when it dies, and what comes meanwhile waits', async () => {
  let crashes = 0;
  const standing = new StandingThread(ECHO, {}, () => {
    crashes++;
  });
  await standing.ready;
  await expect(standing.run({ die: true })).rejects.toMatchObject({ code: 'WORKER_CRASHED' });
  expect(await standing.run({ say: 'again' })).toBe('again');
  expect(crashes).toBe(1);
  await standing.close();
  await expect(standing.run({ say: 'late' })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});
