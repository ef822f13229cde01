import { cp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InterruptedError, readAllJsonl, silentProgress, writeJsonl } from '../../src/core/index.ts';
import { loadModelFormat } from '../../src/model/index.ts';
import { coldStartRowSchema } from '../../src/teacher/index.ts';
import { grpoConfigSchema, trainGrpo } from '../../src/train/index.ts';
import { MAIN, runChild, startChild } from '../cli/run-child.ts';
import { expectEqualTraces, lossesOf, weightsDifference } from './compare-runs.ts';
import {
  changedData,
  configFile,
  createStageFixture,
  metricRows,
  modelAt,
  PRESET,
  type StageFixture,
  teachContract,
  traceOf,
} from './stage-fixture.ts';

const STEPS = 6;
const GROUP = 4;

let fixture: StageFixture;
let taught: string;
let settings: Record<string, unknown>;
let file: string;

const args = (run: string, ...more: string[]): string[] => [
  ...['train', 'grpo', '--config', file, '--run', fixture.path(run), '--threads', '1'],
  ...more,
];
const train = async (run: string, ...more: string[]) => {
  const ended = await runChild(MAIN, ...args(run, ...more));
  expect(ended).toMatchObject({ code: 0 });
  return ended;
};
/** One step in this process; returns its row of metrics and the run folder. */
const step = async (name: string, changes: Record<string, unknown>) => {
  const run = fixture.path(name);
  await trainGrpo(grpoConfigSchema.parse({ ...settings, steps: 1, validateEvery: 99, ...changes, run }));
  const row = (await metricRows(run)).find((entry) => 'samples/trained' in entry)!;
  return { run, row };
};
/** Rewards of all samples are this constant. */
const NO_REWARD = {
  accuracy: { weight: 0 },
  format: { weight: 0 },
  consistency: { level: { weight: 0 }, distortions: { weight: 0 } },
};

beforeAll(async () => {
  fixture = await createStageFixture();
  taught = await teachContract(fixture);
  settings = {
    model: taught,
    dataset: fixture.data,
    steps: STEPS,
    promptsPerStep: 4,
    groupSize: GROUP,
    microBatch: 16,
    maxNewTokens: 32,
    temperature: 0.6,
    // An epsilon far above rounding: Adam would magnify it where the true gradient is 0, and draws would differ.
    optimizer: { learningRate: 1e-3, epsilon: 1e-3 },
    freeze: { vision: true, merger: false },
    validateEvery: 2,
    checkpointEvery: 2,
    keepCheckpoints: 10,
  };
  file = await configFile(fixture.path('grpo.json'), settings);
  await train('straight');
});
afterAll(() => fixture.remove());

describe('what changes a run, and what does not', () => {
  it.each([5, 1])('16 samples in micro-batches of %i: the same losses and weights', async (size) => {
    const run = `micro-${size}`;
    await train(run, '--set', `microBatch=${size}`);
    const expected = await lossesOf(fixture.path('straight'));
    expect(expected).toHaveLength(STEPS);
    (await lossesOf(fixture.path(run))).forEach((loss, index) => {
      expect(Math.abs(loss - expected[index]!)).toBeLessThan(1e-5 * Math.max(1, Math.abs(expected[index]!)));
    });
    const [got, wanted] = [run, 'straight'].map((name) => modelAt(fixture.path(name), STEPS));
    expect(await weightsDifference(got!, wanted!)).toBeLessThan(1e-4);
    expect(await weightsDifference(got!, taught)).toBeGreaterThan(1e-4);
  });

  it('the same seed gives the same bytes, another seed others', async () => {
    await train('again');
    await train('seed-1', '--set', 'seed=1');
    const straight = await traceOf(fixture.path('straight'), STEPS);
    expectEqualTraces(await traceOf(fixture.path('again'), STEPS), straight);
    const other = await traceOf(fixture.path('seed-1'), STEPS);
    for (const name of ['metrics.jsonl', 'samples.jsonl'])
      expect(other[name]!.equals(straight[name]!)).toBe(false);
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

  it('with the checkpoint of the untrained policy as the newest: it is not measured twice', async () => {
    // What a process leaves that was killed just before its second checkpoint.
    const run = fixture.path('from-0');
    await cp(fixture.path('straight'), run, { recursive: true });
    for (let done = 2; done <= STEPS; done += 2)
      await rm(join(modelAt(run, done), '..'), { recursive: true });
    await train('from-0');
    expectEqualTraces(await traceOf(run, STEPS), await traceOf(fixture.path('straight'), STEPS));
  });

  it('stopped in a step that validates: it validates, saves, and ends with the reason', async () => {
    const stop = new AbortController();
    const reason = new InterruptedError('stopped by the test');
    const progress = {
      ...silentProgress,
      update: (done: number) => {
        if (done === 2) stop.abort(reason);
      },
    };
    const config = grpoConfigSchema.parse({
      ...settings,
      checkpointEvery: 99,
      run: fixture.path('stopped'),
    });
    await expect(trainGrpo(config, { progress, signal: stop.signal })).rejects.toBe(reason);
    const resumed = await train('stopped');
    expect(resumed.stderr).toContain('continuing from step 2 of');
    expectEqualTraces(
      await traceOf(fixture.path('stopped'), STEPS),
      await traceOf(fixture.path('straight'), STEPS),
    );
  });
});

describe('the checks of a step', () => {
  it('sampler and trainer agree, and the ratio starts at 1, in every step', async () => {
    const rows = (await metricRows(fixture.path('straight'))).filter((row) => 'ratio/max' in row);
    expect(rows).toHaveLength(STEPS);
    for (const row of rows) {
      expect(row['sampling/logp_difference/max']).toBeLessThan(1e-4);
      expect(row['sampling/logp_difference/max']).toBeGreaterThan(0);
      expect(Math.abs(row['ratio/max']! - 1)).toBeLessThan(1e-4);
      expect(Math.abs(row['ratio/min']! - 1)).toBeLessThan(1e-4);
      expect(row['clip_ratio/high']! + row['clip_ratio/low']!).toBe(0);
    }
  });

  it('refuses a sampler that is further from the trainer than allowed, with exit code 7', async () => {
    const { code, stderr } = await runChild(MAIN, ...args('strict', '--set', 'ratioTolerance=1e-12'));
    expect(code).toBe(7);
    expect(stderr).toMatch(/ratio of current to old probability is .* of step 0, allowed is 1 within 1e-12/);
  });

  it('two updates of one batch: the second is off the old policy', async () => {
    const { row } = await step('twice', {
      updatesPerBatch: 2,
      optimizer: { learningRate: 5e-3, warmupShare: 0 },
    });
    expect(row['ratio/min']!).toBeLessThan(0.8);
    expect(row['clip_ratio/low']!).toBeGreaterThan(0);
  });
});

describe('rewards', () => {
  it('counts groups of equal rewards', async () => {
    const { row } = await step('equal', { rubric: NO_REWARD });
    expect(row.frac_reward_zero_std).toBe(1);
    expect(row['reward/mean']).toBe(0);
    expect(row.surrogate).toBeCloseTo(0, 12);
  });

  it('one group a step: its spread is that of the logged samples', async () => {
    const { run } = await step('one-group', { steps: 4, promptsPerStep: 1, groupSize: 2 });
    const samples = (await readFile(join(run, 'samples.jsonl'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { step: number; total: { value: number } });
    const rows = (await metricRows(run)).filter((entry) => 'reward/mean' in entry);
    expect(rows).toHaveLength(4);
    for (const row of rows) {
      const [a, b] = samples.filter((entry) => entry.step === row.step).map(({ total }) => total.value);
      expect(row['reward/mean']).toBeCloseTo((a! + b!) / 2, 10);
      expect(row['reward/std']).toBeCloseTo(Math.abs(a! - b!) / 2, 10);
      expect(row.frac_reward_zero_std).toBe(a === b ? 1 : 0);
    }
  });

  const byRaters = { accuracy: { reward: { form: 'gaussian', sigma: 'raters' } } };

  it('counts missing rewards and leaves their samples out', async () => {
    let changed = false;
    const dataset = await changedData(fixture.data, fixture.path('one-unrated'), (record) => {
      if (changed || record.split !== 'train') return record;
      changed = true;
      return { ...record, mosStd: null };
    });
    // All 24 pictures in one step, and every answer readable: exactly one group has no reward.
    const { row } = await step('some-missing', {
      dataset,
      rubric: byRaters,
      promptsPerStep: 24,
      temperature: 0.05,
    });
    expect(row['group/missing']).toBe(GROUP);
    expect(row['samples/trained']).toBe(23 * GROUP);
  });

  it('stops above the allowed share of missing rewards, says why, and ends with 7', async () => {
    const dataset = await changedData(fixture.data, fixture.path('unrated'), (record) => ({
      ...record,
      mosStd: null,
    }));
    const rubric = await configFile(fixture.path('by-raters.json'), { rubric: byRaters, temperature: 0.05 });
    const { code, stderr } = await runChild(
      MAIN,
      ...args('all-missing', '--config', rubric, '--data', dataset),
    );
    expect(code).toBe(7);
    expect(stderr).toMatch(/100\.0 % of the recent rewards are missing, allowed are 20\.0 %.*needs mosStd/);
  });

  it('teacher rows about other pictures are refused', async () => {
    const rows = fixture.path('others.jsonl');
    const own = await readAllJsonl(fixture.rows, coldStartRowSchema);
    await writeJsonl(
      rows,
      own.map((row) => ({ ...row, id: `other-${row.id}` })),
    );
    await expect(step('others', { teacherRows: rows })).rejects.toMatchObject({
      code: 'INPUT',
      message: expect.stringContaining('speaks of no image in the train split'),
    });
  });

  it('teacher rows that were distilled from other scores are refused', async () => {
    const rows = fixture.path('rescored.jsonl');
    const own = await readAllJsonl(fixture.rows, coldStartRowSchema);
    await writeJsonl(
      rows,
      own.map((row) => ({ ...row, mos: 6 - row.mos })),
    );
    await expect(step('rescored', { teacherRows: rows })).rejects.toMatchObject({
      code: 'INPUT',
      message: expect.stringContaining('was distilled from other scores'),
    });
  });

  it('other teacher rows behind the same path do not continue a run', async () => {
    const rows = fixture.path('same-path.jsonl');
    await cp(fixture.rows, rows);
    await step('same-path', { teacherRows: rows });
    const own = await readAllJsonl(rows, coldStartRowSchema);
    await writeJsonl(rows, own.slice(1));
    await expect(step('same-path', { teacherRows: rows })).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('  rows: the run started from '),
    });
  });

  it('a training image without a MOS is refused before the first step', async () => {
    const dataset = await changedData(fixture.data, fixture.path('unjudged'), (record) =>
      record.split === 'train' ? { ...record, mos: null } : record,
    );
    await expect(step('unjudged-run', { dataset })).rejects.toMatchObject({ code: 'INPUT' });
  });
});

describe('completions cut by maxNewTokens', () => {
  // The whole answer without the end-of-sequence token: cut, and yet worth a reward.
  let cut: Record<string, unknown>;
  beforeAll(async () => {
    const { tokenizer } = await loadModelFormat(PRESET);
    const [row] = await readAllJsonl(fixture.rows, coldStartRowSchema);
    cut = { maxNewTokens: tokenizer.encode(row!.response).length, temperature: 0.05 };
  });

  it('keep: they are trained on with their reward', async () => {
    const { row } = await step('keep', { ...cut, truncated: 'keep' });
    expect(row['completions/clipped_ratio']).toBe(1);
    expect(row['reward/accuracy/mean']).toBeGreaterThan(0);
    // Linear accuracy, level consistency 0.3, format 0.1; no rows, so no distortion term.
    expect(row['reward/mean']).toBeCloseTo(
      row['reward/accuracy/mean']! +
        0.3 * row['reward/levelConsistency/mean']! +
        0.1 * row['reward/format/mean']!,
      10,
    );
    expect(row['samples/trained']).toBe(16);
  });

  it('mask: they are left out of the loss; with none left the weights stay as they are', async () => {
    const { run, row } = await step('mask', { ...cut, truncated: 'mask' });
    expect(row['completions/clipped_ratio']).toBe(1);
    expect(row['reward/mean']).toBeGreaterThan(0);
    expect(row['samples/trained']).toBe(0);
    expect(await weightsDifference(modelAt(run, 1), taught)).toBe(0);
  });

  it('penalise: they are trained on with reward 0', async () => {
    const { row } = await step('penalise', { ...cut, truncated: 'penalise' });
    expect(row['reward/accuracy/mean']).toBeGreaterThan(0);
    expect(row['reward/mean']).toBe(0);
    expect(row.frac_reward_zero_std).toBe(1);
    expect(row['samples/trained']).toBe(16);
  });
});
