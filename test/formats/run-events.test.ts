import { access, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CheckpointError } from '../../src/core/index.ts';
import { openRun, type RunFolder } from '../../src/formats/index.ts';
import { readSeries } from './tensorboard/event-reader.ts';

let folder: string;
let open: RunFolder[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'q-ponder-run-events-'));
  open = [];
});
afterEach(async () => {
  for (const run of open) await run.close();
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<RunFolder> {
  const run = await openRun(folder, { config: {}, stage: 'grpo', keepCheckpoints: 9, tensorboard: true });
  open.push(run);
  return run;
}
const rowsOf = async (name: string): Promise<unknown[]> =>
  (await readFile(join(folder, name), 'utf8'))
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
const stepsOf = async (name: string): Promise<unknown[]> =>
  (await rowsOf(name)).map((row) => (row as { step: number }).step);

/** Steps from `from` to `to`, with a checkpoint after every second one. */
async function train(run: RunFolder, from: number, to: number, best: (step: number) => number | undefined) {
  for (let step = from; step <= to; step++) {
    run.metrics(step, { kl: step });
    run.sample(step, { text: 'x' });
    run.timings(step, { rollout: 1 });
    if (step % 2 !== 0) continue;
    const value = best(step);
    await run.saveCheckpoint(
      step,
      (target) => writeFile(join(target, 'weights'), String(step)),
      value === undefined ? undefined : { metric: 'srcc', value },
    );
  }
}

describe('events', () => {
  it('are rows with their step, and those after the last checkpoint are cut on resume', async () => {
    const run = await start();
    run.event(1, { message: 'one', watchdog: 'kl', value: 0.5 } as { message: string });
    await run.saveCheckpoint(1, (target) => writeFile(join(target, 'weights'), ''));
    run.event(2, { message: 'two' });
    await run.close();
    expect(await rowsOf('events.jsonl')).toEqual([
      { step: 1, message: 'one', watchdog: 'kl', value: 0.5 },
      { step: 2, message: 'two' },
    ]);
    await start();
    expect(await stepsOf('events.jsonl')).toEqual([1]);
  });
});

describe('rolling back', () => {
  it('removes newer checkpoints and rows, and records the event', async () => {
    const run = await start();
    await train(run, 1, 7, (step) => (step < 6 ? step / 10 : 0.9));
    const checkpoint = await run.rollBack({ from: 7, to: 4 }, { message: 'kl is high' });
    expect(checkpoint).toMatchObject({ step: 4, folder: join(folder, 'checkpoints/step-00000004') });
    expect(await readdir(join(folder, 'checkpoints'))).toEqual(['step-00000002', 'step-00000004']);
    for (const name of ['metrics.jsonl', 'samples.jsonl', 'timings.jsonl']) {
      expect(await stepsOf(name)).toEqual([1, 2, 3, 4]);
    }
    expect(await rowsOf('events.jsonl')).toEqual([
      { step: 4, message: 'kl is high', rolledBackFrom: 7, rollBacks: 1 },
    ]);
    expect(run.best).toEqual({ step: 4, metric: 'srcc', value: 0.4 });
    expect(await rowsOf('best.json')).toEqual([{ step: 4, metric: 'srcc', value: 0.4 }]);
  });

  it('goes on from there, in the TensorBoard files too', async () => {
    const run = await start();
    await train(run, 1, 7, () => undefined);
    await run.rollBack({ from: 7, to: 4 }, { message: 'kl is high' });
    run.metrics(5, { kl: 55 });
    expect(await rowsOf('metrics.jsonl')).toHaveLength(5);
    await run.close();
    const [name = ''] = await readdir(join(folder, 'tensorboard'));
    expect(readSeries([await readFile(join(folder, 'tensorboard', name))], 'kl')).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 4],
      [5, 55],
    ]);
  });

  it('is counted, over a resume and over the loss of older rows', async () => {
    const first = await start();
    expect(first.rollBacks).toBe(0);
    await train(first, 1, 7, () => undefined);
    await first.rollBack({ from: 7, to: 6 }, { message: 'a' });
    await first.close();
    const second = await start();
    expect([second.resumedFrom?.step, second.rollBacks]).toEqual([6, 1]);
    await second.rollBack({ from: 8, to: 2 }, { message: 'b' });
    expect(second.rollBacks).toBe(2);
    expect(await rowsOf('events.jsonl')).toEqual([
      { step: 2, message: 'b', rolledBackFrom: 8, rollBacks: 2 },
    ]);
    await second.close();
    expect((await start()).rollBacks).toBe(2);
  });

  it('leaves no best checkpoint where there was none yet', async () => {
    const run = await start();
    await train(run, 1, 4, (step) => (step === 4 ? 0.5 : undefined));
    await run.rollBack({ from: 4, to: 2 }, { message: 'a' });
    expect(run.best).toBeNull();
    await expect(access(join(folder, 'best.json'))).rejects.toThrow('ENOENT');
  });

  it('changes nothing where the checkpoint is damaged', async () => {
    const run = await start();
    await train(run, 1, 6, () => undefined);
    await writeFile(join(folder, 'checkpoints/step-00000004/weights'), 'y');
    await expect(run.rollBack({ from: 6, to: 4 }, { message: 'a' })).rejects.toBeInstanceOf(CheckpointError);
    expect(await stepsOf('metrics.jsonl')).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await readdir(join(folder, 'checkpoints'))).toHaveLength(3);
    expect(run.rollBacks).toBe(0);
  });
});
