import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GrpoConfig, grpoConfigSchema, trainGrpo } from '../../src/train/index.ts';
import { MAIN, runChild, startChild } from '../cli/run-child.ts';
import { expectEqualTraces, lossesOf, weightsDifference } from './compare-runs.ts';
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
let fixture: StageFixture;
let settings: Record<string, unknown>;

beforeAll(async () => {
  fixture = await createStageFixture();
  settings = {
    model: await teachContract(fixture),
    dataset: fixture.data,
    steps: 2,
    promptsPerStep: 4,
    groupSize: GROUP,
    updatesPerBatch: 4,
    miniBatches: 2,
    microBatch: 8,
    maxNewTokens: 32,
    temperature: 0.6,
    // An epsilon far above rounding: Adam would magnify it where the true gradient is 0, and draws would differ.
    optimizer: { learningRate: 2e-3, epsilon: 1e-3 },
    freeze: { vision: true, merger: false },
    kl: { coefficient: { value: 0 } },
    validateEvery: 99,
    checkpointEvery: 99,
  };
});
afterAll(() => fixture.remove());

const configOf = (run: string, changes: Record<string, unknown>): GrpoConfig =>
  grpoConfigSchema.parse({ ...settings, ...changes, run: fixture.path(run) });
const train = async (run: string, changes: Record<string, unknown>) => {
  await trainGrpo(configOf(run, changes));
  return (await metricRows(fixture.path(run))).filter((row) => 'samples/trained' in row);
};

describe('what is decided over a mini-batch does not depend on its micro-batches', () => {
  it.each([
    ['bapo', { policyLoss: { kind: 'bapo', target: { value: 0.7 } } }],
    ['gspo', { policyLoss: { kind: 'gspo', epsilonLow: 0.1, epsilonHigh: 0.1 } }],
    ['clip-cov', { policyLoss: { kind: 'clip-cov', share: 0.2, covarianceLow: 0 } }],
    ['masks', { importance: { offPolicyKl: 0.5 }, aggregation: { kind: 'constant' } }],
    ['gae', { advantage: { kind: 'gae' }, critic: { detach: false, learningRateFactor: 10 } }],
  ])('%s', async (name, changes) => {
    await train(`${name}-8`, changes);
    await train(`${name}-3`, { ...changes, microBatch: 3 });
    const [whole, cut] = [`${name}-8`, `${name}-3`].map((run) => fixture.path(run));
    const expected = await lossesOf(whole!);
    expect(expected).toHaveLength(2);
    (await lossesOf(cut!)).forEach((loss, i) => {
      expect(Math.abs(loss - expected[i]!)).toBeLessThan(1e-5);
    });
    expect(await weightsDifference(modelAt(cut!, 2), modelAt(whole!, 2))).toBeLessThan(1e-4);
    expect(await weightsDifference(modelAt(whole!, 2), String(settings.model))).toBeGreaterThan(1e-4);
  });
});

describe('a rollout batch', () => {
  const once = { updatesPerBatch: 1, miniBatches: 1, steps: 1 };

  it('used once is the first of several updates: nothing is gained by recomputing what was sampled', async () => {
    const [direct] = await train('once', once);
    // A correction that corrects nothing asks for the trainer's own log-probabilities.
    const importance = { correction: { kind: 'truncate', cap: 1e6 } };
    const [recomputed] = await train('recomputed', { ...once, importance });
    expect(recomputed!['importance/ratio_mean']).toBeCloseTo(1, 5);
    expect(direct!.loss! - recomputed!.loss!).toBeCloseTo(0, 6);
    expect(
      await weightsDifference(modelAt(fixture.path('once'), 1), modelAt(fixture.path('recomputed'), 1)),
    ).toBeLessThan(1e-5);
  });

  it('whose ratio is taken against the sampler gives the same, as they have the same weights', async () => {
    await train('trainer', { steps: 1 });
    await train('sampler', { steps: 1, importance: { old: 'sampler' } });
    const [a, b] = ['trainer', 'sampler'].map((run) => modelAt(fixture.path(run), 1));
    expect(await weightsDifference(a!, b!)).toBeLessThan(1e-5);
  });

  it('with KL in the reward: the reference is the policy before its first step', async () => {
    const rows = await train('kl-in-reward', {
      kl: { place: 'reward', estimator: 'k3', coefficient: { value: 10 } },
      advantage: { kind: 'grpo', scale: 'none' },
    });
    expect(rows[0]!.kl).toBeCloseTo(0, 6);
    expect(rows[1]!.kl).toBeGreaterThan(1e-4);
  });

  it('with an adaptive KL in the reward: the coefficient follows what the penalty measured', async () => {
    const coefficient = { kind: 'adaptive', start: 0.1, target: 1e-4, horizon: 100 };
    const [row] = await train('adaptive-in-reward', { steps: 1, kl: { place: 'reward', coefficient } });
    // No KL before the first update: the bound of -0.2 for 16 samples in 100.
    expect(row!.kl_coefficient).toBeCloseTo(0.1 * (1 - (0.2 * 16) / 100), 9);
  });

  it('whose every answer earns what the greedy one earns teaches ReMax nothing', async () => {
    // Only the format counts: a sampled answer and the greedy one each earn 0 or 1.
    const rubric = {
      accuracy: { weight: 0 },
      consistency: { level: { weight: 0 }, distortions: { weight: 0 } },
      format: { weight: 1 },
    };
    // All cut: no answer keeps the format, every reward equals the greedy one.
    const [row] = await train('remax', {
      ...once,
      rubric,
      maxNewTokens: 4,
      truncated: 'keep',
      advantage: { kind: 'remax' },
    });
    expect(row!['reward/mean']).toBe(0);
    expect(row!.surrogate).toBeCloseTo(0, 12);
    expect(await weightsDifference(modelAt(fixture.path('remax'), 1), String(settings.model))).toBe(0);
  });
});

describe('controllers and a reference that follows', () => {
  const moving = {
    steps: 6,
    checkpointEvery: 2,
    validateEvery: 2,
    keepCheckpoints: 10,
    policyLoss: { kind: 'bapo' },
    kl: {
      coefficient: { kind: 'adaptive', start: 0.1, target: 1e-4, horizon: 100 },
      reference: { kind: 'synchronised', everySteps: 3, mix: 0.5 },
    },
    entropy: { bonus: { kind: 'adaptive', target: 10, step: 0.001 } },
  };
  const run = async (name: string) => {
    const file = await configFile(fixture.path('moving.json'), { ...settings, ...moving });
    return ['train', 'grpo', '--config', file, '--run', fixture.path(name), '--threads', '1'];
  };

  it('move as their formulas say, and a killed run leaves the bytes of an undisturbed one', async () => {
    expect(await runChild(MAIN, ...(await run('moving')))).toMatchObject({ code: 0 });
    const rows = (await metricRows(fixture.path('moving'))).filter((row) => 'samples/trained' in row);
    // Entropy below a target that cannot be reached: one step up after each of four updates.
    expect(rows.map((row) => row.entropy_coefficient)).toEqual(
      [4, 8, 12, 16, 20, 24].map((updates) => expect.closeTo(updates * 0.001, 9)),
    );
    // The first update sees no KL and lowers the coefficient by the bound, 0.2 of 8 samples in 100.
    expect(rows[0]!.kl_coefficient).not.toBe(0.1);
    expect(new Set(rows.map((row) => row.kl_coefficient)).size).toBe(6);

    const child = startChild(MAIN, await run('killed'));
    await child.printed('step 4: validation');
    child.process.kill('SIGKILL');
    expect(await child.ended).toMatchObject({ code: null });
    const { code, stderr } = await runChild(MAIN, ...(await run('killed')));
    expect(code).toBe(0);
    expect(stderr).toMatch(/continuing from step [24] of/);
    expectEqualTraces(await traceOf(fixture.path('killed'), 6), await traceOf(fixture.path('moving'), 6));
  });
});

describe('settings that are not possible together', () => {
  it.each([
    [{ miniBatches: 8, updatesPerBatch: 8 }, 'miniBatches'],
    [{ miniBatches: 2, updatesPerBatch: 3 }, 'updatesPerBatch'],
    [{ advantage: { kind: 'gdpo' }, kl: { place: 'reward' } }, 'kl'],
    [{ importance: { old: 'sampler', correction: { kind: 'truncate' } } }, 'importance'],
    [{ groupSize: 4, advantage: { kind: 'pass-at-k', k: 5 } }, 'advantage'],
    // 32 tokens, 1 in each of 2 steps: no answer would ever be whole, and nothing be learnt.
    [{ steps: 2, maxNewTokens: 32, partialRollouts: { tokensPerStep: 1 } }, 'partialRollouts'],
  ])('%j', (changes, key) => {
    const { success, error } = grpoConfigSchema.safeParse({ ...settings, ...changes, run: 'unused' });
    expect(success).toBe(false);
    expect(error!.issues.map(({ path }) => path[0])).toEqual([key]);
  });

  it('a reference without its adapter, for a policy that has none', async () => {
    const changes = { kl: { reference: { kind: 'adapter-off' }, coefficient: { value: 0.1 } } };
    await expect(trainGrpo(configOf('no-adapter', changes))).rejects.toMatchObject({
      code: 'CONFIG',
      message: 'kl.reference is "adapter-off", but the policy has no adapter',
    });
  });
});
