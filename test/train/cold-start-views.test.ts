import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sha256OfFile } from '../../src/core/index.ts';
import { encodePng } from '../../src/data/index.ts';
import { readTrainingImages } from '../../src/formats/index.ts';
import { loadModelFormat } from '../../src/model/index.ts';
import { coldStartConfigSchema, trainColdStart } from '../../src/train/index.ts';
import { MAIN, runChild, startChild } from '../cli/run-child.ts';
import { expectEqualTraces, lossesOf } from './compare-runs.ts';
import { configFile, createStageFixture, records, type StageFixture, traceOf } from './stage-fixture.ts';

const STEPS = 4;
const VIEWS = { shortSide: 84, crop: 56, count: 1 };

let fixture: StageFixture;
let settings: Record<string, unknown>;
let file: string;

const args = (run: string, ...more: string[]): string[] => [
  ...['train', 'cold-start', '--config', file, '--run', fixture.path(run), '--threads', '1'],
  ...more,
];
const train = async (run: string, ...more: string[]) =>
  expect(await runChild(MAIN, ...args(run, ...more))).toMatchObject({ code: 0 });

/** A cold start on random views, with the head that tells the score. */
beforeAll(async () => {
  fixture = await createStageFixture();
  settings = {
    model: fixture.random,
    dataset: fixture.data,
    rows: fixture.rows,
    steps: STEPS,
    batch: { size: 8, microBatch: 8 },
    optimizer: { learningRate: 1e-3, epsilon: 1e-5 },
    views: VIEWS,
    scoreHeadWeight: 0.5,
    validateEvery: 2,
    checkpointEvery: 2,
    keepCheckpoints: 10,
    maxNewTokens: 8,
  };
  file = await configFile(fixture.path('views.json'), settings);
  await train('straight');
});
afterAll(() => fixture.remove());

it('the views are saved with the model', async () => {
  const { processor } = await loadModelFormat(join(fixture.path('straight'), 'model'));
  expect(processor.views).toEqual(VIEWS);
});

it('8 x 1 sequences or one micro-batch of 8: the same losses, of text and of head', async () => {
  await train('micro', '--set', 'batch.microBatch=1');
  const expected = await lossesOf(fixture.path('straight'));
  expect(expected).toHaveLength(STEPS);
  (await lossesOf(fixture.path('micro'))).forEach((loss, step) => {
    expect(Math.abs(loss / expected[step]! - 1)).toBeLessThan(1e-5);
  });
});

it('the loss is the text’s and the weighted head’s', async () => {
  const lines = (await readFile(join(fixture.path('straight'), 'metrics.jsonl'), 'utf8')).trim().split('\n');
  const steps = lines.map((line) => JSON.parse(line)).filter((row) => row.loss !== undefined);
  expect(steps).toHaveLength(STEPS);
  for (const { loss, textLoss, scoreHeadLoss } of steps) {
    expect(scoreHeadLoss).toBeGreaterThan(0);
    expect(Math.abs(textLoss + scoreHeadLoss - loss)).toBeLessThan(1e-5);
  }
});

it('killed and continued, the run leaves the bytes of an undisturbed one, the head’s moments included', async () => {
  const child = startChild(MAIN, args('killed'));
  await child.printed('step 2: validation');
  child.process.kill('SIGKILL');
  await child.ended;
  await train('killed');
  expectEqualTraces(
    await traceOf(fixture.path('killed'), STEPS),
    await traceOf(fixture.path('straight'), STEPS),
  );
});

it('the model names every image of both splits, and nothing of what its start had seen', async () => {
  const seen = await readTrainingImages(join(fixture.path('straight'), 'model'));
  const keysOf = async (split: string) => {
    const chosen = (await records(fixture.data)).filter((record) => record.split === split);
    const hashes = await Promise.all(chosen.map(({ image }) => sha256OfFile(join(fixture.data, image))));
    return [...new Set(hashes.map((hash) => hash.slice(0, 16)))].sort();
  };
  // The fixture's random model carries no list: what it has seen is unknown.
  expect(seen?.complete).toBe(false);
  expect(seen?.stages.map(({ stage, use, images }) => ({ stage, use, images }))).toEqual([
    { stage: 'cold-start', use: 'train', images: await keysOf('train') },
    { stage: 'cold-start', use: 'validation', images: await keysOf('validation') },
  ]);
});

it('a picture of other content does not continue a run', async () => {
  const dataset = fixture.path('repainted');
  await cp(fixture.data, dataset, { recursive: true });
  const run = fixture.path('repainted-run');
  const config = coldStartConfigSchema.parse({ ...settings, dataset, run, steps: 2, validateEvery: 2 });
  await trainColdStart(config);
  const [first] = (await records(dataset)).filter(({ split }) => split === 'train');
  const grey = { data: new Uint8Array(56 * 56 * 3).fill(128), width: 56, height: 56 };
  await writeFile(join(dataset, first!.image), await encodePng(grey));
  await expect(trainColdStart(config)).rejects.toMatchObject({
    code: 'CONFIG',
    message: expect.stringContaining('images'),
  });
});
