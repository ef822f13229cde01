import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAnswer } from '../../src/core/index.ts';
import { loadShippedPrompt, renderPrompt } from '../../src/data/index.ts';
import { disposeParameters, loadModel } from '../../src/model/index.ts';
import { BlindScorer } from '../../src/train/blind/index.ts';
import { grpoConfigSchema, trainGrpo } from '../../src/train/index.ts';
import { MAIN, runChild, startChild } from '../cli/run-child.ts';
import { expectEqualTraces, tensorsOf } from './compare-runs.ts';
import {
  configFile,
  createStageFixture,
  metricRows,
  modelAt,
  type StageFixture,
  teachContract,
  traceOf,
} from './stage-fixture.ts';

let fixture: StageFixture;
let taught: string;
let settings: Record<string, unknown>;

beforeAll(async () => {
  fixture = await createStageFixture();
  taught = await teachContract(fixture);
  settings = {
    model: taught,
    dataset: fixture.data,
    steps: 4,
    promptsPerStep: 4,
    groupSize: 4,
    updatesPerBatch: 2,
    microBatch: 8,
    maxNewTokens: 32,
    temperature: 0.6,
    optimizer: { learningRate: 1e-3 },
    kl: { coefficient: { value: 0 } },
    validateEvery: 2,
    checkpointEvery: 2,
    keepCheckpoints: 10,
  };
});
afterAll(() => fixture.remove());

const train = async (run: string, changes: Record<string, unknown>) => {
  await trainGrpo(grpoConfigSchema.parse({ ...settings, ...changes, run: fixture.path(run) }));
  return (await metricRows(fixture.path(run))).filter((row) => 'samples/trained' in row);
};

interface SampleRow {
  step: number;
  text: string;
  terms: { blindConsistency: { status: string; value: number } };
}
const samplesOf = async (run: string): Promise<SampleRow[]> =>
  (await readFile(join(fixture.path(run), 'samples.jsonl'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as SampleRow);

/** 1 - |blind score - answer| / 4 of the samples, as this model scores their reasonings. */
async function consistencies(model: string, rows: readonly SampleRow[]): Promise<number[]> {
  const loaded = await loadModel(model);
  const { text } = renderPrompt(await loadShippedPrompt('student/quality-blind.v1'));
  const scorer = new BlindScorer(loaded, text);
  await scorer.prepare(rows.map((row) => row.text));
  disposeParameters(loaded.parameters);
  return rows.map((row) => {
    const { reasoning, score, status } = parseAnswer(row.text);
    if (reasoning === undefined || status !== 'ok') return 0;
    return Math.max(0, 1 - Math.abs(scorer.expectedScore(reasoning) - score!) / 4);
  });
}

const everything = {
  advantage: { kind: 'gae' },
  replay: { kind: 'buffer', capacity: 8, maxStaleness: 3 },
  rubric: { consistency: { blind: { weight: 0.5 } } },
};

describe('GAE with a value head, blind consistency and older groups', () => {
  const command = async (name: string) => {
    const file = await configFile(fixture.path('everything.json'), { ...settings, ...everything });
    return ['train', 'grpo', '--config', file, '--run', fixture.path(name), '--threads', '1'];
  };

  it('continue to the bit where the run was killed', async () => {
    expect(await runChild(MAIN, ...(await command('whole')))).toMatchObject({ code: 0 });
    const child = startChild(MAIN, await command('killed'));
    await child.printed('step 2: validation');
    child.process.kill('SIGKILL');
    expect(await child.ended).toMatchObject({ code: null });
    const { code, stderr } = await runChild(MAIN, ...(await command('killed')));
    expect(code).toBe(0);
    expect(stderr).toMatch(/continuing from step [02] of/);
    expectEqualTraces(await traceOf(fixture.path('killed'), 4), await traceOf(fixture.path('whole'), 4));
  });

  it('log the value head, and keep it beside the model', async () => {
    const rows = (await metricRows(fixture.path('whole'))).filter((row) => 'samples/trained' in row);
    expect(rows).toHaveLength(4);
    const [first, last] = [rows[0]!, rows.at(-1)!];
    // Before its first update the head tells the mean reward, so the rest of its error is their spread.
    expect(first['values/mean']! / first['reward/mean']!).toBeCloseTo(1, 1);
    expect(first.value_loss).toBeLessThan(first['reward/std']! ** 2);
    expect(last['values/mean']).not.toBe(first['values/mean']);
    const heads = await Promise.all(
      [0, 4].map(async (step) => {
        const folder = join(modelAt(fixture.path('whole'), step), '..');
        const tensors = await tensorsOf(join(folder, 'training-state.safetensors'));
        return [...tensors].find(([name]) => name.endsWith('critic.weight'))![1];
      }),
    );
    expect(heads[0]).toHaveLength(128);
    expect(heads[1]).not.toEqual(heads[0]);
    const model = await tensorsOf(join(modelAt(fixture.path('whole'), 4), 'model.safetensors'));
    expect([...model.keys()].filter((name) => name.includes('critic'))).toEqual([]);
  });
});

describe('blind consistency', () => {
  it('asks the policy as it started, also where the reference of KL follows the policy', async () => {
    await train('following', {
      steps: 2,
      rubric: everything.rubric,
      kl: { coefficient: { value: 0.01 }, reference: { kind: 'synchronised', everySteps: 1, mix: 1 } },
    });
    const rows = (await samplesOf('following')).filter(({ step }) => step === 2);
    const got = rows.map(({ terms }) => terms.blindConsistency.value);
    const start = await consistencies(taught, rows);
    start.forEach((value, i) => {
      expect(got[i]).toBeCloseTo(value, 4);
    });
    expect(start.some((value) => value > 0)).toBe(true);
    const present = await consistencies(modelAt(fixture.path('following'), 2), rows);
    expect(Math.max(...present.map((value, i) => Math.abs(value - got[i]!)))).toBeGreaterThan(1e-3);
  });

  it('needs a prompt that comes with the package', async () => {
    const changes = { rubric: everything.rubric, blindPrompt: 'student/nothing.v1' };
    await expect(train('no-prompt', changes)).rejects.toMatchObject({
      code: 'CONFIG',
      message: 'there is no prompt "student/nothing.v1"',
    });
  });
});
