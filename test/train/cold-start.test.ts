import { cp, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readAllJsonl, writeJsonl } from '../../src/core/index.ts';
import { encodePng } from '../../src/data/index.ts';
import { type ColdStartRow, coldStartRowSchema } from '../../src/teacher/index.ts';
import { coldStartConfigSchema, trainColdStart } from '../../src/train/index.ts';
import { MAIN, runChild, startChild } from '../cli/run-child.ts';
import { expectEqualTraces, lossesOf, weightsDifference } from './compare-runs.ts';
import {
  changedData,
  configFile,
  createStageFixture,
  modelAt,
  type StageFixture,
  traceOf,
} from './stage-fixture.ts';

const STEPS = 6;

interface Inputs {
  model: string;
  dataset: string;
  rows: string;
}

let fixture: StageFixture;
let settings: Record<string, unknown>;
let file: string;

/** Trains through the command line into a run folder of this name. */
const args = (run: string, ...more: string[]): string[] => [
  ...['train', 'cold-start', '--config', file, '--run', fixture.path(run), '--threads', '1'],
  ...more,
];
const train = async (run: string, ...more: string[]) => {
  const ended = await runChild(MAIN, ...args(run, ...more));
  expect(ended).toMatchObject({ code: 0 });
  return ended;
};

beforeAll(async () => {
  fixture = await createStageFixture();
  settings = {
    model: fixture.random,
    dataset: fixture.data,
    rows: fixture.rows,
    steps: STEPS,
    batch: { size: 8, microBatch: 8 },
    // An epsilon far above rounding: where the true gradient is 0 (key biases), Adam would magnify noise.
    optimizer: { learningRate: 1e-3, epsilon: 1e-5 },
    validateEvery: 2,
    checkpointEvery: 2,
    keepCheckpoints: 10,
    maxNewTokens: 8,
  };
  file = await configFile(fixture.path('cold-start.json'), settings);
  await train('straight');
});
afterAll(() => fixture.remove());

describe('what changes a run, and what does not', () => {
  it.each([4, 1])('8 x 1 sequences, micro-batches of %i: the same losses and weights', async (size) => {
    const run = `micro-${size}`;
    await train(run, '--set', `batch.microBatch=${size}`);
    const expected = await lossesOf(fixture.path('straight'));
    expect(expected).toHaveLength(STEPS);
    (await lossesOf(fixture.path(run))).forEach((loss, step) => {
      expect(Math.abs(loss / expected[step]! - 1)).toBeLessThan(1e-5);
    });
    const [got, wanted] = [run, 'straight'].map((name) => modelAt(fixture.path(name), STEPS));
    expect(await weightsDifference(got!, wanted!)).toBeLessThan(1e-4);
    expect(await weightsDifference(got!, fixture.random)).toBeGreaterThan(1e-3);
  });

  it('the same seed gives the same bytes, another seed others', async () => {
    await train('again');
    await train('seed-1', '--set', 'seed=1');
    const straight = await traceOf(fixture.path('straight'), STEPS);
    expectEqualTraces(await traceOf(fixture.path('again'), STEPS), straight);
    const other = await traceOf(fixture.path('seed-1'), STEPS);
    expect(other['model/model.safetensors']!.equals(straight['model/model.safetensors']!)).toBe(false);
    expect(other['metrics.jsonl']!.equals(straight['metrics.jsonl']!)).toBe(false);
  });
});

describe('an interrupted and resumed run leaves the bytes of an undisturbed one', () => {
  it.each([
    ['SIGINT', 'step 2: validation', 130, null],
    ['SIGKILL', 'step 4: validation', null, 'SIGKILL'],
  ] as const)('after %s at %s', async (name, moment, code, signal) => {
    const child = startChild(MAIN, args(name));
    await child.printed(moment);
    child.process.kill(name);
    expect(await child.ended).toMatchObject({ code, signal });
    const { stderr } = await train(name);
    const from = Number(/continuing from step (\d+)/.exec(stderr)?.[1]);
    expect(from).toBeGreaterThan(0);
    expect(from).toBeLessThan(STEPS);
    expectEqualTraces(
      await traceOf(fixture.path(name), STEPS),
      await traceOf(fixture.path('straight'), STEPS),
    );
  });

  it('the command of a finished run takes no step and names the same model', async () => {
    const { stdout } = await train('straight');
    expect(stdout).toContain(`${join(fixture.path('straight'), 'model')}: weights of step`);
    expect(await lossesOf(fixture.path('straight'))).toHaveLength(STEPS);
  });
});

describe('input that cannot be used', () => {
  /** Runs with rows that are changed, in this process. */
  const withRows = async (name: string, change: (rows: ColdStartRow[]) => unknown[]): Promise<unknown> => {
    const path = fixture.path(`${name}.jsonl`);
    await writeJsonl(path, change(await readAllJsonl(fixture.rows, coldStartRowSchema)));
    const config = coldStartConfigSchema.parse({ ...settings, rows: path, run: fixture.path(name) });
    return trainColdStart(config);
  };

  it('a row about an unknown image ends the command with 3', async () => {
    const path = fixture.path('strange.jsonl');
    const [row] = await readAllJsonl(fixture.rows, coldStartRowSchema);
    await writeJsonl(path, [{ ...row, id: 'nowhere' }]);
    const { code, stderr } = await runChild(MAIN, ...args('strange', '--rows', path));
    expect(code).toBe(3);
    expect(stderr).toContain(`${path} speaks of image nowhere, which is not in the train split`);
    expect(stderr).toContain('hint: distil the rows from this data set');
  });

  it('a row that answers another prompt', async () => {
    const other = 'f'.repeat(64);
    await expect(
      withRows('other-prompt', (rows) =>
        rows.map((row) => ({ ...row, prompt: { ...row.prompt, hash: other } })),
      ),
    ).rejects.toMatchObject({
      code: 'INPUT',
      message: expect.stringMatching(/answers prompt .*\(ffffffffffff\), the configuration asks/),
    });
  });

  it('a row that was distilled from another score', async () => {
    await expect(
      withRows('other-scores', (rows) =>
        rows.map((row, i) =>
          i === 5 ? { ...row, mos: row.mos > 3 ? row.mos - 2e-6 : row.mos + 2e-6 } : row,
        ),
      ),
    ).rejects.toMatchObject({
      code: 'INPUT',
      message: expect.stringMatching(/was distilled from other scores: image train-000005 has MOS/),
      hint: 'distil the rows again from this data set',
    });
  });

  it('a picture of an impossible shape, by its file, before the first step', async () => {
    const dataset = fixture.path('long');
    await cp(fixture.data, dataset, { recursive: true });
    const file = join(dataset, 'images', 'train-000003.png');
    await writeFile(file, await encodePng({ data: new Uint8Array(3 * 402 * 2), width: 402, height: 2 }));
    const config = coldStartConfigSchema.parse({ ...settings, dataset, run: fixture.path('long-run') });
    await expect(trainColdStart(config)).rejects.toMatchObject({
      code: 'INPUT',
      message: `${file} cannot be used: the image is 402x2, an aspect ratio above 200`,
    });
    await expect(readFile(join(fixture.path('long-run'), 'config.json'))).rejects.toThrow('ENOENT');
  });

  it('rows of which none was accepted', async () => {
    await expect(
      withRows('refused', (rows) => rows.map((row) => ({ ...row, accepted: false }))),
    ).rejects.toMatchObject({ code: 'INPUT', message: expect.stringContaining('holds no accepted row') });
  });

  it('a row that is cut short, by file and line', async () => {
    const path = fixture.path('cut.jsonl');
    await writeFile(path, '\n{"id": "a", "ima');
    const config = coldStartConfigSchema.parse({ ...settings, rows: path, run: fixture.path('cut') });
    await expect(trainColdStart(config)).rejects.toMatchObject({
      code: 'INPUT',
      message: expect.stringContaining(`${path}:2 is not JSON`),
    });
  });

  it('a validation image without a MOS, before the first step', async () => {
    const dataset = await changedData(fixture.data, fixture.path('unjudged'), (record) =>
      record.split === 'validation' ? { ...record, mos: null } : record,
    );
    const config = coldStartConfigSchema.parse({ ...settings, dataset, run: fixture.path('unjudged-run') });
    await expect(trainColdStart(config)).rejects.toMatchObject({
      code: 'INPUT',
      message: expect.stringMatching(/^image .* has no MOS$/),
    });
  });

  it.each([
    ['a folder without weights', () => fixture.path('weightless'), 'CHECKPOINT', /has no model.safetensors/],
    ['a folder that is no model', () => fixture.data, 'CHECKPOINT', /config\.json/],
  ])('%s instead of a model', async (_what, model, code, message) => {
    await cp(fixture.random, fixture.path('weightless'), {
      recursive: true,
      filter: (path) => !path.endsWith('.safetensors'),
    });
    const config = coldStartConfigSchema.parse({
      ...settings,
      model: model(),
      run: fixture.path('no-model'),
    });
    await expect(trainColdStart(config)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });
});

describe('a run is not continued from other inputs behind the same paths', () => {
  const change = {
    'the teacher’s rows': [
      'rows',
      async ({ rows }: Inputs) => {
        const all = await readAllJsonl(rows, coldStartRowSchema);
        await writeJsonl(rows, [...all.slice(1), all[0]]);
      },
    ],
    'the records': [
      'records.jsonl',
      async ({ dataset }: Inputs) => {
        const path = join(dataset, 'records.jsonl');
        await writeFile(
          path,
          (await readFile(path, 'utf8')).replace('"dataset":"synthetic"', '"dataset":"other"'),
        );
      },
    ],
    'the starting weights': [
      'model/model.safetensors',
      async ({ model }: Inputs) => {
        const path = join(model, 'model.safetensors');
        const bytes = await readFile(path);
        bytes[bytes.length - 2]! ^= 1;
        await writeFile(path, bytes);
      },
    ],
  } as const;

  it.each(Object.entries(change))('%s', async (_what, [named, alter]) => {
    const folder = (name: string): string => fixture.path(`inputs-${named.replace('/', '-')}-${name}`);
    const inputs = { model: folder('model'), dataset: folder('data'), rows: folder('rows.jsonl') };
    await cp(fixture.random, inputs.model, { recursive: true });
    await cp(fixture.data, inputs.dataset, { recursive: true });
    await cp(fixture.rows, inputs.rows);
    const config = coldStartConfigSchema.parse({ ...settings, ...inputs, steps: 1, run: folder('run') });
    await trainColdStart(config);
    await trainColdStart(config);
    await alter(inputs);
    const again = trainColdStart(config);
    await expect(again).rejects.toMatchObject({ code: 'CONFIG', exitCode: 2 });
    await expect(again).rejects.toThrow(/started from other content of 1 input\(s\)/);
    await expect(again).rejects.toThrow(`  ${named}: the run started from `);
  });
});

describe('inputs that were moved', () => {
  const inputsIn = async (folder: string): Promise<string[]> => {
    await cp(fixture.random, join(folder, 'model'), { recursive: true });
    await cp(fixture.data, join(folder, 'data'), { recursive: true });
    await cp(fixture.rows, join(folder, 'rows.jsonl'));
    return optionsIn(folder);
  };
  const optionsIn = (folder: string): string[] => [
    ...['--model', join(folder, 'model'), '--data', join(folder, 'data')],
    ...['--rows', join(folder, 'rows.jsonl')],
  ];

  it('continue a run from where it stopped, to the bytes of an undisturbed one', async () => {
    const before = fixture.path('inputs-before');
    const child = startChild(MAIN, args('moved', ...(await inputsIn(before))));
    await child.printed('step 2: validation');
    child.process.kill('SIGINT');
    expect(await child.ended).toMatchObject({ code: 130 });
    const after = fixture.path('inputs-after');
    await rename(before, after);
    const { stderr } = await train('moved', ...optionsIn(after));
    expect(stderr).toContain('continuing from step ');
    const recorded = JSON.parse(await readFile(join(fixture.path('moved'), 'config.json'), 'utf8'));
    expect(recorded.config.dataset).toBe(join(after, 'data'));
    expectEqualTraces(
      await traceOf(fixture.path('moved'), STEPS),
      await traceOf(fixture.path('straight'), STEPS),
    );
  });

  it('are refused where one has other content, with its name and its path', async () => {
    const folder = fixture.path('inputs-other');
    const options = await inputsIn(folder);
    const rows = await readAllJsonl(fixture.rows, coldStartRowSchema);
    await writeJsonl(join(folder, 'rows.jsonl'), rows.slice(1));
    const { code, stderr } = await runChild(MAIN, ...args('straight', ...options));
    expect(code).toBe(2);
    expect(stderr).toContain('was started from other content of 1 input(s) (SHA-256):\n  rows: the run ');
    expect(stderr).toContain(`rows: the run has "${fixture.rows}", got "${join(folder, 'rows.jsonl')}"`);
  });
});

describe('configuration', () => {
  it('names every problem at once and ends with 2', async () => {
    const { code, stderr, stdout } = await runChild(
      MAIN,
      ...args(
        'bad',
        '--set',
        'batch.sise=4',
        '--set',
        'lr=1',
        '--set',
        'steps=0',
        '--set',
        'freeze.vision=7',
      ),
    );
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('the configuration of "train cold-start" has');
    for (const problem of ['batch: Unrecognized key: "sise"', '"lr"', '  steps: ', '  freeze.vision: '])
      expect(stderr).toContain(problem);
  });

  it('--dry-run prints all of it and makes no run', async () => {
    const { code, stdout } = await runChild(MAIN, ...args('dry', '--dry-run'));
    expect(code).toBe(0);
    expect(parse(stdout)).toEqual(coldStartConfigSchema.parse({ ...settings, run: fixture.path('dry') }));
    await expect(lossesOf(fixture.path('dry'))).rejects.toThrow('ENOENT');
  });
});
