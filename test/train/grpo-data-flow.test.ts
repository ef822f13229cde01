import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grpoConfigSchema, trainGrpo } from '../../src/train/index.ts';
import { MAIN, runChild, startChild } from '../cli/run-child.ts';
import { expectEqualTraces, weightsDifference } from './compare-runs.ts';
import {
  configFile,
  createStageFixture,
  metricRows,
  modelAt,
  type StageFixture,
  teachContract,
  traceOf,
} from './stage-fixture.ts';

const GROUP = 4;
const PROMPTS = 4;
let fixture: StageFixture;
let settings: Record<string, unknown>;

beforeAll(async () => {
  fixture = await createStageFixture();
  settings = {
    model: await teachContract(fixture),
    dataset: fixture.data,
    steps: 2,
    promptsPerStep: PROMPTS,
    groupSize: GROUP,
    microBatch: 16,
    maxNewTokens: 32,
    temperature: 0.6,
    optimizer: { learningRate: 1e-3, epsilon: 1e-3 },
    freeze: { vision: true, merger: false },
    kl: { coefficient: { value: 0 } },
    validateEvery: 99,
    checkpointEvery: 99,
  };
});
afterAll(() => fixture.remove());

type Row = Record<string, number | null>;
const train = async (run: string, changes: Record<string, unknown>): Promise<Row[]> => {
  await trainGrpo(grpoConfigSchema.parse({ ...settings, ...changes, run: fixture.path(run) }));
  return (await metricRows(fixture.path(run))).filter((row) => 'samples/trained' in row);
};
const jsonLines = async <T>(run: string, name: string): Promise<T[]> =>
  (await readFile(join(fixture.path(run), name), 'utf8'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);

/** Only the format counts: each answer earns 0 or 1. */
const FORMAT_ALONE = {
  accuracy: { weight: 0 },
  consistency: { level: { weight: 0 }, distortions: { weight: 0 } },
  format: { weight: 1 },
};
const NOTHING = { ...FORMAT_ALONE, format: { weight: 0 } };

describe('rewards beside the rubric', () => {
  const rewardFile = async (name: string, text: string): Promise<string> => {
    await writeFile(fixture.path(name), text);
    return fixture.path(name);
  };

  it('a file pays what its function returns, with its weight', async () => {
    const path = await rewardFile(
      'length.mjs',
      'export default (samples) => samples.map(({ completion }) => completion.length);',
    );
    const rewards = [{ kind: 'file', name: 'characters', path, weight: 0.25, range: [0, 10000] }];
    const rows = await train('file', { rubric: NOTHING, rewards });
    const samples = await jsonLines<{ step: number; text: string; total: { value: number } }>(
      'file',
      'samples.jsonl',
    );
    expect(samples).toHaveLength(2 * GROUP);
    for (const { text, total } of samples) expect(total.value).toBeCloseTo(0.25 * text.length, 10);
    for (const row of rows) {
      expect(row['reward/mean']).toBeCloseTo(0.25 * row['reward/characters/mean']!, 10);
    }
  });

  it('one that throws for some leaves those out, and is counted; the run goes on', async () => {
    const path = await rewardFile(
      'throws.mjs',
      `export default { batchSize: 1, score([{ index }]) {
         if (index === 0) throw new Error('no value for the first');
         return [index];
       } };`,
    );
    const rewards = [{ kind: 'file', name: 'picky', path, weight: 1, range: [0, 10] }];
    const [row] = await train('throws', { steps: 1, rubric: NOTHING, rewards, maxMissingRewardShare: 0.3 });
    expect(row!['reward/picky/missing']).toBe(PROMPTS);
    expect(row!['group/missing']).toBe(PROMPTS);
    expect(row!['samples/trained']).toBe(PROMPTS * (GROUP - 1));
    // Of 1, 2 and 3 in every group.
    expect(row!['reward/mean']).toBeCloseTo(2, 10);
  });
});

describe('resampling', () => {
  it('counts what reward terms lacked in all of its rounds', async () => {
    const path = fixture.path('first-missing.mjs');
    await writeFile(path, 'export default (samples) => samples.map(({ index }) => (index === 0 ? NaN : 1));');
    const [row] = await train('missing-in-rounds', {
      steps: 1,
      rubric: NOTHING,
      rewards: [{ kind: 'file', name: 'constant', path, weight: 1, range: [0, 1] }],
      resampling: { kind: 'dynamic', maxRounds: 3 },
      maxMissingRewardShare: 0.5,
    });
    expect(row).toMatchObject({ 'resampling/rounds': 3, 'reward/constant/missing': 3 * PROMPTS });
    expect(row!['reward/constant/mean']).toBe(1);
  });

  it('trains on groups with a spread alone, and says how many it sampled for them', async () => {
    const rows = await train('resampled', {
      steps: 3,
      promptsPerStep: 2,
      rubric: FORMAT_ALONE,
      temperature: 0.9,
      truncated: 'keep',
      resampling: { kind: 'dynamic', maxRounds: 6 },
    });
    for (const row of rows) {
      const full = row['resampling/exhausted'] === 0;
      if (full) expect(row['samples/trained']).toBe(2 * GROUP);
      // The groups that are trained on all have a spread, whatever was sampled.
      if (row['samples/trained']! > 0) expect(row.frac_reward_zero_std).toBe(0);
      expect(row['resampling/sampled']).toBe(2 * row['resampling/rounds']!);
      expect(row['resampling/sampled']! - row['resampling/zero_variance']!).toBeGreaterThanOrEqual(
        row['samples/trained']! / GROUP,
      );
    }
    expect(rows.some((row) => row['resampling/rounds']! > 1)).toBe(true);
  });

  it('is bounded: where no group ever has a spread the weights stay as they are', async () => {
    const [row] = await train('exhausted', {
      steps: 1,
      rubric: NOTHING,
      resampling: { kind: 'dynamic', maxRounds: 3 },
    });
    expect(row).toMatchObject({
      'resampling/rounds': 3,
      'resampling/exhausted': 1,
      'samples/trained': 0,
    });
    expect(await weightsDifference(modelAt(fixture.path('exhausted'), 1), String(settings.model))).toBe(0);
  });
});

describe('a start inside the teacher’s answer', () => {
  it('is given, not trained; the reward reads the whole', async () => {
    const staged = { kind: 'staged', starts: 2, by: 'token' };
    const rows = await train('started', {
      steps: 2,
      teacherRows: fixture.rows,
      rubric: FORMAT_ALONE,
      curriculum: staged,
    });
    const samples = await jsonLines<{ step: number; given?: number; text: string }>(
      'started',
      'samples.jsonl',
    );
    for (const { step, given, text } of samples) {
      expect(given === undefined).toBe(step === 2);
      // What is given begins the answer, so the policy does not.
      expect(text.startsWith('<think>')).toBe(given === undefined);
    }
    // The taught policy keeps the format; judged without what was given, it would never.
    expect(rows[0]!['reward/format/mean']).toBeGreaterThan(0.5);
  });

  it('of a row that breaks the contract: the error names file and picture', async () => {
    const [first, ...others] = (await readFile(fixture.rows, 'utf8')).trim().split('\n');
    const broken = { ...(JSON.parse(first!) as { id: string }), response: 'no tags' };
    const rows = fixture.path('broken.jsonl');
    await writeFile(rows, `${[JSON.stringify(broken), ...others].join('\n')}\n`);
    await expect(train('broken', { teacherRows: rows, curriculum: { kind: 'mixed' } })).rejects.toMatchObject(
      {
        code: 'INPUT',
        message: expect.stringContaining(`${rows}, the row of image ${broken.id}: `),
        hint: 'take the accepted teacher rows alone',
      },
    );
  });

  it('needs teacher rows', () => {
    const { error } = grpoConfigSchema.safeParse({
      ...settings,
      run: 'unused',
      curriculum: { kind: 'mixed' },
    });
    expect(error!.issues.map(({ path }) => path.join('.'))).toEqual(['curriculum']);
  });
});

describe('draws by difficulty', () => {
  it('of more pictures than there are: an error, not a smaller batch', async () => {
    const changes = { promptsPerStep: 25, difficulty: { kind: 'recent-success' } };
    await expect(train('too-many', changes)).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining('promptsPerStep is 25, allowed are at most the 24 pictures'),
    });
  });
});

describe('watchdogs', () => {
  const watchdogs = (action: string) => ({
    // No policy has a million nats per token: it barks in the second step.
    entropy: { threshold: 1e6, window: 1, patience: 2, action },
    format: { action: 'off' },
    identicalGroups: { action: 'off' },
  });

  it('warn: a row of events.jsonl, and the run goes on', async () => {
    await train('warned', { steps: 3, watchdogs: watchdogs('warn') });
    const events = await jsonLines<Record<string, unknown>>('warned', 'events.jsonl');
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ step: 2, watchdog: 'entropy', threshold: 1e6, firstBadStep: 1 });
  });

  it('stop: the checkpoint of the step is saved, and the run ends with TRAINING', async () => {
    await expect(train('stopped', { steps: 9, watchdogs: watchdogs('stop') })).rejects.toMatchObject({
      code: 'TRAINING',
      message: expect.stringMatching(/^step 2: entropy is/),
    });
    expect(
      await weightsDifference(modelAt(fixture.path('stopped'), 2), String(settings.model)),
    ).toBeGreaterThan(0);
    // The same command does not slip past: the step after is bad as well. With the watchdog off it goes on to the end.
    await expect(train('stopped', { steps: 9, watchdogs: watchdogs('stop') })).rejects.toMatchObject({
      message: expect.stringMatching(/^step 3: entropy is/),
      hint: expect.stringContaining('watchdogs.entropy.action=warn'),
    });
    expect(await train('stopped', { steps: 9, watchdogs: watchdogs('off') })).toHaveLength(9);
  });

  it('roll-back: it goes back, draws anew, and stops when that has not helped', async () => {
    const changes = {
      steps: 9,
      checkpointEvery: 1,
      keepCheckpoints: 9,
      maxRollBacks: 2,
      // The learning rate falls by its schedule, in step 6 for the first time below the threshold; the
      // weights of checkpoint 5 were measured in that step, so 4 is the newest good one.
      optimizer: { learningRate: 1e-3, epsilon: 1e-3, schedule: 'linear', warmupShare: 0, finalShare: 0 },
      watchdogs: {
        ...watchdogs('off'),
        entropy: { metric: 'learningRate', threshold: 5e-4, window: 1, patience: 1, action: 'roll-back' },
      },
    };
    await expect(train('back', changes)).rejects.toMatchObject({
      code: 'TRAINING',
      message: expect.stringMatching(/after 2 roll-backs: learningRate is/),
    });
    const events = await jsonLines<Record<string, unknown>>('back', 'events.jsonl');
    const backs = events.filter((row) => 'rolledBackFrom' in row);
    expect(backs.map(({ step, rolledBackFrom, rollBacks }) => [step, rolledBackFrom, rollBacks])).toEqual([
      [4, 6, 1],
      [4, 6, 2],
    ]);
  });
});

describe('data of older weights', () => {
  it('replay: draws from the last steps, never beyond the bound, and does not expect ratio 1', async () => {
    const rows = await train('replay', {
      steps: 5,
      optimizer: { learningRate: 5e-3, warmupShare: 0 },
      ratioTolerance: 1e-3,
      replay: { kind: 'buffer', maxStaleness: 2, capacity: 64, maxUses: null },
    });
    expect(rows[0]!['replay/staleness_max']).toBe(0);
    for (const row of rows) expect(row['replay/staleness_max']).toBeLessThanOrEqual(2);
    expect(Math.max(...rows.map((row) => row['replay/staleness_max']!))).toBeGreaterThan(0);
    const stale = rows.filter((row) => row['staleness/logp_difference/mean'] !== undefined);
    expect(stale.length).toBeGreaterThan(0);
    // A fresh sample differs by rounding, a stale one by what was learnt since.
    for (const row of stale) {
      expect(row['staleness/logp_difference/mean']).toBeGreaterThan(1e-3);
      if (row['sampling/logp_difference/max'] !== undefined) {
        expect(row['sampling/logp_difference/max']).toBeLessThan(1e-4);
      }
    }
  });

  it('partial rollouts: pieces of 8 tokens, under newer weights each; no group is lost', async () => {
    const rows = await train('partial', {
      steps: 6,
      truncated: 'keep',
      partialRollouts: { tokensPerStep: 8 },
    });
    // Nothing is whole after 8 tokens: the contract alone takes more.
    expect(rows[0]!['samples/trained']).toBe(0);
    const trained = rows.map((row) => row['samples/trained']!);
    expect(Math.max(...trained)).toBeGreaterThan(0);
    for (const count of trained) expect(count % GROUP).toBe(0);
    const lengths = rows.flatMap((row) => row['completions/max_length'] ?? []);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(32);
    expect(Math.max(...lengths)).toBeGreaterThan(8);
  });
});

describe('a killed run leaves the bytes of an undisturbed one', () => {
  it.each([
    [
      'replay',
      { replay: { kind: 'buffer', maxStaleness: 3, maxUses: 2 }, difficulty: { kind: 'recent-success' } },
    ],
    ['partial', { partialRollouts: { tokensPerStep: 8 }, advantage: { kind: 'rloo' } }],
  ])('with %s', async (name, changes) => {
    const all = {
      ...settings,
      ...changes,
      steps: 6,
      checkpointEvery: 2,
      validateEvery: 2,
      keepCheckpoints: 10,
    };
    const file = await configFile(fixture.path(`${name}.json`), all);
    const args = (run: string) => [
      ...['train', 'grpo', '--config', file, '--run', fixture.path(run), '--threads', '1'],
    ];
    expect(await runChild(MAIN, ...args(`${name}-straight`))).toMatchObject({ code: 0 });
    const child = startChild(MAIN, args(`${name}-killed`));
    await child.printed('step 4: validation');
    child.process.kill('SIGKILL');
    await child.ended;
    const { code, stderr } = await runChild(MAIN, ...args(`${name}-killed`));
    expect(code).toBe(0);
    expect(stderr).toMatch(/continuing from step [24] of/);
    expectEqualTraces(
      await traceOf(fixture.path(`${name}-killed`), 6),
      await traceOf(fixture.path(`${name}-straight`), 6),
    );
  });
});
