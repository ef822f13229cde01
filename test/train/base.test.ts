import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CROSS_DISTORTIONS } from '../../src/data/index.ts';
import { baseConfigSchema, trainBase } from '../../src/train/index.ts';
import { type Ended, MAIN, runChild, startChild } from '../cli/run-child.ts';
import { expectEqualTraces, lossesOf, weightsDifference } from './compare-runs.ts';
import {
  changedData,
  configFile,
  createStageFixture,
  modelAt,
  PRESET,
  records,
  type StageFixture,
  traceOf,
} from './stage-fixture.ts';

const [UNSEEN] = CROSS_DISTORTIONS;

/** The vision phase ends with step 4; the captions follow. */
const VISION = 4;
const STEPS = 8;

let fixture: StageFixture;
let settings: Record<string, unknown>;
let file: string;
let straight: Ended;

const args = (run: string, ...more: string[]): string[] => [
  ...['train', 'base', '--config', file, '--run', fixture.path(run), '--threads', '1'],
  ...more,
];
const train = async (run: string, ...more: string[]) => {
  const ended = await runChild(MAIN, ...args(run, ...more));
  expect(ended).toMatchObject({ code: 0 });
  return ended;
};
const trace = (run: string) => traceOf(fixture.path(run), STEPS);

beforeAll(async () => {
  fixture = await createStageFixture();
  const optimizer = { learningRate: 1e-3, epsilon: 1e-5 };
  const batch = { size: 8, microBatch: 8 };
  settings = {
    preset: PRESET,
    dataset: fixture.data,
    whiteningPatches: 600,
    vision: { steps: VISION, crop: 28, optimizer, batch },
    caption: { steps: STEPS - VISION, optimizer, batch },
    validateEvery: 1,
    checkpointEvery: 2,
    keepCheckpoints: 10,
  };
  file = await configFile(fixture.path('base.json'), settings);
  straight = await train('straight');
});
afterAll(() => fixture.remove());

describe('what changes a run, and what does not', () => {
  it('no score is ever seen: other MOS in all records, the same bytes', async () => {
    const dataset = await changedData(fixture.data, fixture.path('mirrored'), (record) => ({
      ...record,
      mos: 6 - record.mos!,
      mosStd: 0.123,
      raters: 7,
    }));
    const [before, after] = await Promise.all([records(fixture.data), records(dataset)]);
    expect(before.filter(({ mos }, i) => mos !== after[i]!.mos)).toHaveLength(36);
    await train('unscored', '--data', dataset);
    expectEqualTraces(await trace('unscored'), await trace('straight'));
  });

  it('what is seen does: another distortion in the records, other bytes', async () => {
    const dataset = await changedData(fixture.data, fixture.path('relabelled'), (record) => ({
      ...record,
      distortions: [],
    }));
    await train('relabelled-run', '--data', dataset);
    expect(
      await weightsDifference(
        modelAt(fixture.path('relabelled-run'), STEPS),
        modelAt(fixture.path('straight'), STEPS),
      ),
    ).toBeGreaterThan(1e-4);
  });

  it('8 x 1 pictures, micro-batches of 3: the same losses and weights in both phases', async () => {
    await train('micro', '--set', 'vision.batch.microBatch=3', '--set', 'caption.batch.microBatch=3');
    const expected = await lossesOf(fixture.path('straight'));
    expect(expected).toHaveLength(STEPS);
    (await lossesOf(fixture.path('micro'))).forEach((loss, step) => {
      expect(Math.abs(loss / expected[step]! - 1)).toBeLessThan(1e-5);
    });
    const [got, wanted] = ['micro', 'straight'].map((name) => modelAt(fixture.path(name), STEPS));
    expect(await weightsDifference(got!, wanted!)).toBeLessThan(1e-4);
  });

  it('another seed gives other bytes', async () => {
    await train('seed-1', '--set', 'seed=1');
    const [other, same] = await Promise.all([trace('seed-1'), trace('straight')]);
    for (const name of ['metrics.jsonl', 'model/model.safetensors'])
      expect(other[name]!.equals(same[name]!)).toBe(false);
  });
});

describe('an interrupted and resumed run leaves the bytes of an undisturbed one', () => {
  it.each([
    ['SIGINT', 'step 1: validation', 130, null],
    ['SIGKILL', 'step 5: validation', null, 'SIGKILL'],
  ] as const)('after %s at %s', async (name, moment, code, signal) => {
    const child = startChild(MAIN, args(name));
    await child.printed(moment);
    child.process.kill(name);
    expect(await child.ended).toMatchObject({ code, signal });
    const { stderr } = await train(name);
    const from = Number(/continuing from step (\d+)/.exec(stderr)?.[1]);
    expect(from).toBeGreaterThan(0);
    expect(from).toBeLessThan(STEPS);
    expectEqualTraces(await trace(name), await trace('straight'));
  });

  it.each([VISION, VISION + 2])('with checkpoint %i as the newest', async (newest) => {
    // What a process leaves that was killed just before its next checkpoint: longer logs, and no model.
    const name = `from-${newest}`;
    await cp(fixture.path('straight'), fixture.path(name), { recursive: true });
    for (let step = newest + 2; step <= STEPS; step += 2)
      await rm(join(modelAt(fixture.path(name), step), '..'), { recursive: true });
    await rm(join(fixture.path(name), 'model'), { recursive: true });
    const { stderr } = await train(name);
    expect(stderr).toContain(`continuing from step ${newest} of`);
    expectEqualTraces(await trace(name), await trace('straight'));
  });

  it('the command of a finished run says again what it reached', async () => {
    const said = /validation distortion type (\d+\.\d) %/;
    const again = await train('straight');
    expect(said.exec(again.stdout)?.[1]).toMatch(/^\d/);
    expect(said.exec(again.stdout)?.[1]).toBe(said.exec(straight.stdout)?.[1]);
    expect(again.stderr).toContain(`continuing from step ${STEPS} of`);
  });
});

it('other records behind the same path do not continue a run', async () => {
  const dataset = fixture.path('same-path');
  await cp(fixture.data, dataset, { recursive: true });
  const config = baseConfigSchema.parse({ ...settings, dataset, run: fixture.path('same-path-run') });
  const short = {
    ...config,
    vision: { ...config.vision, steps: 1 },
    caption: { ...config.caption, steps: 0 },
  };
  await trainBase(short);
  await changedData(fixture.data, dataset, (record) => ({ ...record, raters: 3 }));
  await expect(trainBase(short)).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(/1 input\(s\) \(SHA-256\):\n {2}records\.jsonl: /),
  });
});

describe('pictures that teach nothing', () => {
  const withRecords = (name: string, change: Parameters<typeof changedData>[2]) =>
    changedData(fixture.data, fixture.path(name), change).then((dataset) =>
      trainBase(baseConfigSchema.parse({ ...settings, dataset, run: fixture.path(`${name}-run`) })),
    );

  it('imported ones, whose content nobody knows', async () => {
    await expect(
      withRecords('imported', (record) => ({
        ...record,
        content: null,
        generator: null,
        source: 'imported',
      })),
    ).rejects.toMatchObject({ code: 'INPUT', message: expect.stringContaining('has no known content') });
  });

  it('ones with a distortion that is kept for testing', async () => {
    await expect(
      withRecords('kept', (record) => ({
        ...record,
        distortions: [{ type: UNSEEN, strength: 3, level: 3 }],
      })),
    ).rejects.toMatchObject({
      code: 'INPUT',
      message: expect.stringContaining(`has the distortion ${UNSEEN}, which is kept for testing`),
    });
  });

  it('a crop that is larger than the pictures', async () => {
    const config = { ...settings, vision: { crop: 84 }, run: fixture.path('too-large') };
    await expect(trainBase(baseConfigSchema.parse(config))).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringMatching(
        /train-000000\.png cannot be used: a crop of 84 does not fit an image of 56x56$/,
      ),
    });
  });
});
