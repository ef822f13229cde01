import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StorageError } from '../../../src/core/index.ts';
import { EventsFile, openRun, type RunFolder } from '../../../src/formats/index.ts';
import { readEvents, readSeries } from './event-reader.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'q-ponder-events-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const filesIn = async (path: string): Promise<Buffer[]> =>
  Promise.all((await readdir(path)).sort().map((name) => readFile(join(path, name))));

describe('EventsFile', () => {
  it('holds version, start and values, on the disk at once', async () => {
    const file = await EventsFile.create(folder, { firstStep: 7, now: () => 1700000000.5 });
    file.scalars(7, { 'reward/mean': 0.1, kl: 0, none: Number.NaN });
    file.text(8, 'events', 'größer **2**');
    const moment = { wallTime: 1700000000.5, scalars: {}, texts: {} };
    expect(readEvents(await readFile(file.path))).toEqual([
      { ...moment, step: 0, version: 'brain.Event:2' },
      { ...moment, step: 7, session: 1 },
      { ...moment, step: 7, scalars: { 'reward/mean': Math.fround(0.1), kl: 0, none: Number.NaN } },
      { ...moment, step: 8, texts: { events: 'größer **2**' } },
    ]);
    file.close();
  });

  it('writes no event of no values', async () => {
    const file = await EventsFile.create(folder, { firstStep: 0 });
    const { size } = await stat(file.path);
    file.scalars(1, {});
    expect((await stat(file.path)).size).toBe(size);
    file.close();
  });

  it('comes after all others by name, in the same second and after a clock that was put back', async () => {
    const names: string[] = [];
    for (const now of [1700000000.9, 1700000000.95, 1600000000]) {
      const file = await EventsFile.create(folder, { firstStep: 0, now: () => now });
      file.close();
      names.push(file.path);
    }
    expect([...names].sort()).toEqual(names);
    expect(new Set(names).size).toBe(3);
    expect(names[0]).toMatch(/events\.out\.tfevents\.1700000000\./);
  });

  it('takes nothing after it was closed', async () => {
    const file = await EventsFile.create(folder, { firstStep: 0 });
    file.close();
    expect(() => file.scalars(1, { loss: 1 })).toThrow('is closed');
  });

  it('says where it cannot be written', async () => {
    await writeFile(join(folder, 'tensorboard'), '');
    await expect(EventsFile.create(join(folder, 'tensorboard'), { firstStep: 0 })).rejects.toBeInstanceOf(
      StorageError,
    );
  });
});

describe('a run with TensorBoard files', () => {
  const start = (): Promise<RunFolder> =>
    openRun(join(folder, 'run'), { config: { steps: 10 }, stage: 'grpo', tensorboard: true });
  const written = () => filesIn(join(folder, 'run/tensorboard'));

  it('holds metrics by name, timings under "timings", events as text', async () => {
    const run = await start();
    run.metrics(1, { loss: 0.5 });
    run.timings(1, { rollout: 2 });
    run.event(1, { message: 'entropy is low' });
    await run.close();
    const [file] = await written();
    expect(readEvents(file!).slice(2)).toMatchObject([
      { step: 1, scalars: { loss: 0.5 } },
      { step: 1, scalars: { 'timings/rollout': 2 } },
      { step: 1, texts: { events: 'entropy is low' } },
    ]);
  });

  it('that goes on after a crash shows what TensorBoard shows of such sessions', async () => {
    interface Given {
      kind: string;
      step: number;
      values: { loss: number };
    }
    // What TensorBoard itself has kept of two such files, of which the first is torn: record-tensorboard.py.
    const { resumed } = JSON.parse(
      readFileSync(new URL('../fixtures/tensorboard.json', import.meta.url), 'utf8'),
    ) as { resumed: { sessions: Given[][]; kept: [number, number][] } };
    for (const session of resumed.sessions) {
      const run = await start();
      for (const { kind, step, values } of session) {
        if (kind !== 'scalars') continue;
        run.metrics(step, values);
        if (step === 2) await run.saveCheckpoint(2, (target) => writeFile(join(target, 'weights'), 'x'));
      }
      await run.close();
      const [name = ''] = await readdir(join(folder, 'run/tensorboard'));
      const path = join(folder, 'run/tensorboard', name);
      if (session === resumed.sessions[0]) await truncate(path, (await stat(path)).size - 7);
    }
    expect(readSeries(await written(), 'loss')).toEqual(resumed.kept);
  });

  it('that starts anew, for it had no checkpoint, shows its last session alone', async () => {
    for (const loss of [1, 2]) {
      const run = await start();
      run.metrics(0, { loss });
      run.metrics(loss === 1 ? 3 : 1, { loss });
      await run.close();
    }
    expect(readSeries(await written(), 'loss')).toEqual([
      [0, 2],
      [1, 2],
    ]);
  });

  it('has no such folder unless it was asked for', async () => {
    const run = await openRun(join(folder, 'run'), { config: {}, stage: 'grpo' });
    run.metrics(1, { loss: 1 });
    await run.close();
    expect(await readdir(join(folder, 'run'))).not.toContain('tensorboard');
  });
});
