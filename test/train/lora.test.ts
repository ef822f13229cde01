import { cp, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256OfFile } from '../../src/core/index.ts';
import { grpoConfigSchema, trainGrpo } from '../../src/train/index.ts';
import { MAIN, runChild, startChild } from '../cli/run-child.ts';
import { expectEqualTraces, lossesOf, tensorsOf, weightsDifference } from './compare-runs.ts';
import {
  configFile,
  createStageFixture,
  metricRows,
  modelAt,
  type StageFixture,
  teachContract,
  traceOf,
} from './stage-fixture.ts';

const STEPS = 6;
const WEIGHTS = 'adapter_model.safetensors';

let fixture: StageFixture;
let file: string;
let taught: string;

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
  taught = await teachContract(fixture);
  file = await configFile(fixture.path('lora.json'), {
    model: taught,
    dataset: fixture.data,
    rows: fixture.rows,
    steps: STEPS,
    batch: { size: 8, microBatch: 8 },
    lora: { rank: 4, dropout: 0.1 },
    optimizer: { learningRate: 2e-3, epsilon: 1e-5 },
    validateEvery: 2,
    checkpointEvery: 2,
    keepCheckpoints: 10,
    maxNewTokens: 8,
  });
  await train('straight');
});
afterAll(() => fixture.remove());

describe('a cold start of adapters', () => {
  it('keeps the adapter alone, in the run’s model and in its checkpoints', async () => {
    const run = fixture.path('straight');
    for (const folder of [join(run, 'model'), modelAt(run, STEPS)]) {
      const weights = (await readdir(folder)).filter((name) => name.endsWith('.safetensors'));
      expect(weights).toEqual([WEIGHTS]);
    }
    const tensors = await tensorsOf(join(run, 'model', WEIGHTS));
    const { num_hidden_layers: layers } = JSON.parse(await readFile(join(taught, 'config.json'), 'utf8'));
    expect(tensors.size).toBe(layers * 7 * 2);
    expect([...tensors.keys()].filter((name) => name.includes('visual'))).toEqual([]);
    const moments = await tensorsOf(join(run, 'checkpoints', 'step-00000006', 'training-state.safetensors'));
    expect(moments.size).toBe(layers * 7 * 2 * 2);
  });

  it('changes what the model says: B is no longer 0', async () => {
    const tensors = await tensorsOf(join(fixture.path('straight'), 'model', WEIGHTS));
    for (const [name, values] of tensors) {
      if (name.includes('lora_B')) expect([name, values.some((value) => value !== 0)]).toEqual([name, true]);
    }
  });

  it('gives the same with gradient checkpointing', async () => {
    await train('checkpointed', '--set', 'gradientCheckpointing=true');
    const [got, expected] = await Promise.all(
      ['checkpointed', 'straight'].map((name) => lossesOf(fixture.path(name))),
    );
    expect(got).toHaveLength(STEPS);
    got!.forEach((loss, step) => {
      expect(Math.abs(loss / expected![step]! - 1)).toBeLessThan(1e-5);
    });
    const folders = ['checkpointed', 'straight'].map((name) => modelAt(fixture.path(name), STEPS));
    expect(await weightsDifference(folders[0]!, folders[1]!, WEIGHTS)).toBeLessThan(1e-4);
  });

  it('gives the same without remembering what the frozen tower sees', async () => {
    await train('uncached', '--set', 'pictureCache=0');
    const [got, expected] = await Promise.all(
      ['uncached', 'straight'].map((name) => lossesOf(fixture.path(name))),
    );
    got!.forEach((loss, step) => {
      expect(Math.abs(loss / expected![step]! - 1)).toBeLessThan(1e-5);
    });
  });

  it('killed and resumed leaves the bytes of an undisturbed run, dropout included', async () => {
    const child = startChild(MAIN, args('killed'));
    await child.printed('step 4: validation');
    child.process.kill('SIGKILL');
    await child.ended;
    const { stderr } = await train('killed');
    expect(stderr).toMatch(/continuing from step [24]/);
    const [got, expected] = await Promise.all(
      ['killed', 'straight'].map((name) => traceOf(fixture.path(name), STEPS, WEIGHTS)),
    );
    expectEqualTraces(got!, expected!);
  });

  it('goes on with an adapter where "model" is one, and refuses other settings for it', async () => {
    const model = join(fixture.path('straight'), 'model');
    await train('further', '--set', `model=${model}`, '--set', 'lora=null', '--set', 'steps=2');
    const [first] = await lossesOf(fixture.path('further'));
    expect(first).toBeLessThan((await lossesOf(fixture.path('straight')))[0]!);
    const refused = await runChild(
      MAIN,
      ...args('refused', '--set', `model=${model}`, '--set', 'lora.rank=8'),
    );
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("lora.rank is 8, the adapter's 4");
  });
});

describe('a base that was moved', () => {
  const baseIn = async (folder: string): Promise<string> =>
    JSON.parse(await readFile(join(folder, 'adapter_config.json'), 'utf8')).base_model_name_or_path;

  it('continues the run: its checkpoints name the old place, its result the new one', async () => {
    const [before, after] = [fixture.path('base-before'), fixture.path('base-after')];
    await cp(taught, before, { recursive: true });
    await train('moved', '--model', before);
    await rename(before, after);
    await train('moved', '--model', after);
    expect(await baseIn(modelAt(fixture.path('moved'), STEPS))).toBe(before);
    expect(await baseIn(fixture.path('moved/model'))).toBe(after);
    const [got, expected] = await Promise.all(
      ['moved', 'straight'].map((name) => traceOf(fixture.path(name), STEPS, WEIGHTS)),
    );
    expectEqualTraces(got!, expected!);
  });

  it('continues a run from an adapter whose base was moved, but not one whose scale was changed', async () => {
    const adapter = fixture.path('adapter-start');
    await cp(join(fixture.path('straight'), 'model'), adapter, { recursive: true });
    const base = fixture.path('base-of-adapter');
    await cp(taught, base, { recursive: true });
    const change = async (changes: object): Promise<void> => {
      const path = join(adapter, 'adapter_config.json');
      await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, 'utf8')), ...changes }));
    };
    const further = ['--model', adapter, '--set', 'lora=null', '--set', 'steps=1'];
    await train('moved-further', ...further);
    await change({ base_model_name_or_path: base });
    await train('moved-further', ...further);
    expect(await baseIn(fixture.path('moved-further/model'))).toBe(base);
    await change({ lora_alpha: 1 });
    const refused = await runChild(MAIN, ...args('moved-further', ...further));
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('  model/adapter_config.json: the run started from ');
  });
});

describe('freeze beside an adapter', () => {
  it('is said to be passed over where the adapter does otherwise, and not where it agrees', async () => {
    // The cold start's own default frees tower and merger; the adapter has layers in neither.
    const { stderr } = await train('freeze-default', '--set', 'steps=1');
    expect(stderr.match(/freeze is passed over/g)).toHaveLength(1);
    expect(stderr).toContain('freeze.vision is false, but the adapter has no layers there');
    const agreeing = ['--set', 'freeze.vision=true', '--set', 'freeze.merger=true', '--set', 'steps=1'];
    expect((await train('freeze-agrees', ...agreeing)).stderr).not.toContain('freeze');
    const frozen = await train('freeze-merger', ...agreeing, '--set', 'lora.merger=true');
    expect(frozen.stderr).toContain(
      'freeze is passed over: freeze.merger is true, but the adapter has layers there and they are trained',
    );
  });
});

describe('GRPO of adapters', () => {
  const settings = (model: string) => ({
    model,
    dataset: fixture.data,
    steps: 3,
    promptsPerStep: 4,
    groupSize: 4,
    microBatch: 8,
    maxNewTokens: 48,
    truncated: 'keep',
    advantage: { scale: 'batch' },
    validateEvery: 3,
    optimizer: { learningRate: 1e-3 },
  });
  const klOf = async (run: string): Promise<(number | null)[]> =>
    (await metricRows(run)).flatMap(({ kl }) => (kl === undefined ? [] : [kl]));

  it('starts at its reference, with a new adapter and with one that goes on', async () => {
    for (const [name, start, lora] of [
      ['new', taught, { rank: 2 }],
      ['goes-on', join(fixture.path('straight'), 'model'), null],
    ] as const) {
      const run = fixture.path(`grpo-${name}`);
      await trainGrpo(grpoConfigSchema.parse({ ...settings(start), lora, run }));
      const [first, ...later] = await klOf(run);
      // The policy is its own reference in the first step, and moves away from it.
      expect(Math.abs(first!)).toBeLessThan(1e-6);
      expect(Math.max(...later.map(Number))).toBeGreaterThan(1e-6);
      expect(await readdir(join(run, 'model'))).toContain(WEIGHTS);
    }
  });

  it('continues when its base was moved', async () => {
    const [before, after] = [fixture.path('grpo-base-before'), fixture.path('grpo-base-after')];
    await cp(taught, before, { recursive: true });
    const run = fixture.path('grpo-moved');
    const train = (model: string) =>
      trainGrpo(grpoConfigSchema.parse({ ...settings(model), lora: { rank: 2 }, run }));
    await train(before);
    await rename(before, after);
    expect(await train(after)).toMatchObject({ model: join(run, 'model'), step: 3 });
    const { base_model_name_or_path: base } = JSON.parse(
      await readFile(join(run, 'model', 'adapter_config.json'), 'utf8'),
    );
    expect(base).toBe(after);
  });

  it('leaves the base as it was', async () => {
    const before = await sha256OfFile(join(taught, 'model.safetensors'));
    const run = fixture.path('grpo-base');
    await trainGrpo(
      grpoConfigSchema.parse({ ...settings(taught), lora: {}, run, gradientCheckpointing: true }),
    );
    expect(await sha256OfFile(join(taught, 'model.safetensors'))).toBe(before);
  });

  it('refuses dropout, which would part sampler and trainer', async () => {
    const config = { ...settings(taught), lora: { dropout: 0.1 }, run: fixture.path('grpo-dropout') };
    await expect(trainGrpo(grpoConfigSchema.parse(config))).rejects.toThrow(/lora\.dropout is 0\.1/);
  });
});
