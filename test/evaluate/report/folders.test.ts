import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InputError, writeFileAtomic, writeJsonl } from '../../../src/core/index.ts';
import { loadReport, type Prediction } from '../../../src/evaluate/index.ts';
import { prediction } from '../prediction-factory.ts';

const rows = (error: number, over: Partial<Prediction> = {}): Prediction[] =>
  Array.from({ length: 8 }, (_, i) =>
    prediction(`i${i}`, 1 + i / 2, Math.min(5, 1 + i / 2 + (i % 2) * error), over),
  );

let folder: string;
const at = (...parts: string[]) => join(folder, ...parts);
const json = (path: string, value: unknown) => writeFileAtomic(path, `${JSON.stringify(value)}\n`);

/** What `eval run` writes: predictions and a summary that says how they were made. */
async function evaluation(path: string, predictions: Prediction[], provenance: object): Promise<void> {
  await writeJsonl(join(path, 'predictions.jsonl'), predictions);
  await json(join(path, 'summary.json'), { provenance, summary: { n: predictions.length } });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'q-ponder-folders-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('loadReport of a demo', () => {
  beforeAll(async () => {
    for (const [model, error] of [
      ['Q-Ponder', 0.1],
      ['Q-Ponder-CI', 0.9],
    ] as const) {
      for (const mode of ['greedy', 'sampled'])
        await writeJsonl(at('demo', 'predictions', `${model}-test-${mode}.jsonl`), rows(error));
    }
    for (const [name, stage] of [
      ['a-grpo', 'grpo'],
      ['b-ci', 'cold-start'],
    ] as const) {
      await json(at('demo', name, 'config.json'), {
        stage,
        config: { dataset: at('demo', 'data'), steps: 2 },
      });
      await writeJsonl(at('demo', name, 'metrics.jsonl'), [{ step: 1, loss: null, kl: 0.5 }]);
    }
    const total = { status: 'missing', reason: 'no answer' };
    await writeJsonl(at('demo', 'a-grpo', 'samples.jsonl'), [
      {
        step: 1,
        image: 'train-1',
        mos: 3,
        text: 'x',
        finishReason: 'length',
        terms: { format: total },
        total,
      },
    ]);
    await writeJsonl(at('demo', 'data', 'records.jsonl'), [
      {
        ...{ id: 'train-1', image: 't.png', dataset: 'made-up', split: 'train', mos: 3, mosStd: null },
        ...{ raters: null, distortions: [], content: null },
        ...{ group: 'g', source: 'imported', generator: null },
      },
    ]);
    for (const name of ['t.png', 'i3.png']) {
      const bytes = await sharp({ create: { width: 4, height: 4, channels: 3, background: '#fff' } })
        .png()
        .toBuffer();
      await writeFileAtomic(at('demo', 'data', name), bytes);
    }
  });

  it('finds models, readings and stages, the stages in the order of training', async () => {
    const data = await loadReport([at('demo')], { resamples: 50, baseline: 'Q-Ponder-CI' });
    expect(data.models.map(({ name, splits }) => [name, splits.map(({ split }) => split)])).toEqual([
      ['Q-Ponder-CI', ['made-up, test, greedy', 'made-up, test, sampled']],
      ['Q-Ponder', ['made-up, test, greedy', 'made-up, test, sampled']],
    ]);
    expect(data.stages.map(({ name }) => name)).toEqual(['Cold start (b-ci)', 'GRPO (a-grpo)']);
    expect(data.stages[1]!.rows).toEqual([{ step: 1, loss: null, kl: 0.5 }]);
    expect(data.stages[1]!.rollouts).toMatchObject([{ image: 'train-1', total: { status: 'missing' } }]);
  });
  it('compares with the baseline', async () => {
    const data = await loadReport([at('demo')], { resamples: 50, baseline: 'Q-Ponder-CI' });
    expect(data.comparisons.map(({ candidate, result }) => [candidate, result.images])).toEqual([
      ['Q-Ponder', 8],
      ['Q-Ponder', 8],
    ]);
    await expect(loadReport([at('demo')], { resamples: 50, baseline: 'nobody' })).rejects.toThrow(
      'the baseline nobody is none of the models',
    );
  });
  it('finds the pictures of predictions and of rollouts, and says of others that there are none', async () => {
    const { picture, rolloutPicture, models } = await loadReport([at('demo')], { resamples: 50 });
    const of = (i: number) => picture(models[0]!.splits[0]!.predictions[i]!);
    expect((await of(3))?.length).toBeGreaterThan(20);
    expect(await of(4)).toBeUndefined();
    expect((await rolloutPicture!('train-1'))?.length).toBeGreaterThan(20);
    expect(await rolloutPicture!('train-2')).toBeUndefined();
  });
});

describe('loadReport of a suite', () => {
  beforeAll(async () => {
    const rowsOf = (mode: string) => ({ model: '/x/first/model', mode, dataset: '/x/koniq', split: 'test' });
    await evaluation(at('suite', 'first', 'koniq-test-greedy'), rows(0.3), rowsOf('greedy'));
    await evaluation(at('suite', 'first', 'koniq-test-expected'), rows(0.2), rowsOf('expected'));
    await evaluation(at('suite', 'baselines', 'koniq-test-mean'), rows(0.6), {
      ...rowsOf('baseline'),
      model: 'baseline mean, fitted on 9 images',
    });
    const value = (srcc: number) => ({ 'koniq-test': { values: { srcc: { status: 'ok', value: srcc } } } });
    await json(at('suite', 'suite.json'), {
      rows: [
        { kind: 'model', model: 'first', reading: 'greedy', cells: value(0.5) },
        { kind: 'quoted', model: 'Other', reading: null, source: 'a paper, table 2', cells: value(0.9) },
        {
          kind: 'quoted',
          model: 'Other',
          reading: null,
          source: 'a paper, table 3',
          cells: { koniq: { values: {} } },
        },
      ],
    });
  });

  it('gives every reading a row of its own on the data set, by its longest name, baselines included', async () => {
    const data = await loadReport([at('suite')], { resamples: 50 });
    expect(data.models.map(({ name, splits }) => [name, splits.map(({ split }) => split)])).toEqual([
      ['mean', ['koniq-test']],
      ['first, expected', ['koniq-test']],
      ['first, greedy', ['koniq-test']],
    ]);
    expect(data.weightedMean).toBe(true);
    // Against the first model, not against a simple predictor.
    expect(data.comparisons.map(({ baseline, candidate }) => [baseline, candidate])).toEqual([
      ['first, expected', 'mean'],
      ['first, expected', 'first, greedy'],
    ]);
  });
  it('carries quoted figures with their source, on the data set they are about', async () => {
    const { quoted } = await loadReport([at('suite')], { resamples: 50 });
    expect(quoted).toEqual([
      { model: 'Other', split: 'koniq-test', source: 'a paper, table 2', srcc: 0.9 },
      { model: 'Other', split: 'koniq', source: 'a paper, table 3' },
    ]);
  });
});

describe('loadReport of several folders', () => {
  it('names results of one model by their folders', async () => {
    for (const name of ['monday', 'tuesday'])
      await evaluation(at(name), rows(0.1), { model: '/x/run/model', mode: 'greedy' });
    const data = await loadReport([at('monday'), at('tuesday')], { resamples: 50 });
    expect(data.models.map(({ name }) => name)).toEqual(['run (monday)', 'run (tuesday)']);
    expect(data.comparisons).toHaveLength(1);
  });
});

describe('loadReport refuses', () => {
  const refusal = async (...folders: string[]): Promise<string> => {
    try {
      await loadReport(folders, { resamples: 50 });
    } catch (error) {
      if (error instanceof InputError) return error.message;
      throw error;
    }
    return 'nothing';
  };
  it('a folder without results', async () => {
    await json(at('empty', 'config.json'), {});
    expect(await refusal(at('empty'))).toBe(`${at('empty')} holds neither predictions nor a training run`);
  });
  it('an empty file of predictions', async () => {
    await writeJsonl(at('stopped', 'predictions.jsonl'), []);
    expect(await refusal(at('stopped'))).toBe(`${at('stopped', 'predictions.jsonl')} is empty`);
  });
  it('two results of one model on one split', async () => {
    for (const part of ['a', 'b'])
      await evaluation(at('twice', part), rows(0.1), { model: '/x/run/model', mode: 'greedy' });
    expect(await refusal(at('twice'))).toBe('there are two results of run on "made-up, test"');
  });
  it('a bad row, by file and line', async () => {
    await writeFileAtomic(at('bad', 'predictions.jsonl'), '{"id":"a"}\n');
    expect(await refusal(at('bad'))).toContain(`${at('bad', 'predictions.jsonl')}:1 has`);
  });
  it('a damaged configuration of a run', async () => {
    await writeJsonl(at('damaged', 'metrics.jsonl'), []);
    await writeFileAtomic(at('damaged', 'config.json'), '{"stage":');
    expect(await refusal(at('damaged'))).toBe(
      `${at('damaged', 'config.json')} is not the configuration of a run`,
    );
  });
});
