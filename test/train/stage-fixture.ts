import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { formatAnswer, levelOfScore, Rng, readAllJsonl, writeJsonl } from '../../src/core/index.ts';
import {
  type ImageRecord,
  imageRecordSchema,
  loadShippedPrompt,
  renderPrompt,
  synthesisConfigSchema,
  synthesize,
} from '../../src/data/index.ts';
import { startEngine } from '../../src/engine/index.ts';
import {
  createModel,
  disposeParameters,
  initialValues,
  loadModelFormat,
  saveModel,
} from '../../src/model/index.ts';
import { coldStartRow } from '../../src/teacher/index.ts';
import { coldStartConfigSchema, trainColdStart } from '../../src/train/index.ts';

// Whole training runs in processes of their own: on a busy machine each takes many times its quiet 2 seconds.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

export const PRESET: string = fileURLToPath(new URL('../../models/qwen2.5-vl-mini', import.meta.url));

/** Ways to the things that the stages need, small enough for a step to take a few hundredths of a second. */
export interface StageFixture {
  folder: string;
  /** 24 training pictures of 56x56 (4 image tokens), 6 for validation, 6 to test. */
  data: string;
  /** One accepted row for each training picture: a short reasoning that states the level, and the MOS. */
  rows: string;
  /** The preset with random weights. */
  random: string;
  path(name: string): string;
  remove(): Promise<void>;
}

export const records = (data: string): Promise<ImageRecord[]> =>
  readAllJsonl(join(data, 'records.jsonl'), imageRecordSchema);

/** A copy of the data set whose records are changed. */
export async function changedData(
  data: string,
  output: string,
  change: (record: ImageRecord) => ImageRecord,
): Promise<string> {
  await cp(data, output, { recursive: true });
  await writeJsonl(join(output, 'records.jsonl'), (await records(data)).map(change));
  return output;
}

async function writeRows(data: string, path: string): Promise<void> {
  const prompt = renderPrompt(await loadShippedPrompt('student/quality.v1'));
  const teacher = { name: 'short', version: '1', seed: null, answer: async () => ({ text: '' }) };
  const rows = (await records(data))
    .filter(({ split }) => split === 'train')
    .map((record) => {
      const mos = record.mos!;
      const text = formatAnswer(`the quality is ${levelOfScore(mos)}.`, mos);
      return coldStartRow({ record: { ...record, mos }, prompt, sample: 0 }, { text }, teacher, []);
    });
  await writeJsonl(path, rows);
}

export async function createStageFixture(): Promise<StageFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'q-ponder-stages-'));
  const path = (name: string): string => join(folder, name);
  await startEngine({ threads: 1 });
  await synthesize(
    synthesisConfigSchema.parse({
      output: path('data'),
      size: 56,
      counts: { train: 24, validation: 6, test: 6, cross: 0 },
    }),
    { workers: 1 },
  );
  await writeRows(path('data'), path('rows.jsonl'));
  const format = await loadModelFormat(PRESET);
  const model = createModel(format, initialValues(format.config, new Rng('stage fixture')));
  await saveModel(model, path('random'), { dtype: 'F32' });
  disposeParameters(model.parameters);
  return {
    folder,
    data: path('data'),
    rows: path('rows.jsonl'),
    random: path('random'),
    path,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Teaches the random model the output contract, so that it writes scores, of all kinds, at temperature 1. */
export async function teachContract({ data, rows, random, path }: StageFixture): Promise<string> {
  const { model } = await trainColdStart(
    coldStartConfigSchema.parse({
      run: path('taught'),
      model: random,
      dataset: data,
      rows,
      steps: 60,
      batch: { size: 8, microBatch: 8 },
      optimizer: { learningRate: 3e-3 },
      validateEvery: 60,
      maxNewTokens: 48,
    }),
  );
  return model;
}

/** Model folder of a run's checkpoint. */
export const modelAt = (run: string, step: number): string =>
  join(run, 'checkpoints', `step-${String(step).padStart(8, '0')}`, 'model');

/** Files of a run that must not depend on interruptions, by name. */
export async function traceOf(
  run: string,
  lastStep: number,
  weights = 'model.safetensors',
): Promise<Record<string, Buffer>> {
  const checkpoint = `checkpoints/step-${String(lastStep).padStart(8, '0')}`;
  const names = [
    'metrics.jsonl',
    'samples.jsonl',
    `model/${weights}`,
    `${checkpoint}/model/${weights}`,
    `${checkpoint}/training-state.safetensors`,
    `${checkpoint}/training-state.json`,
  ];
  const files = await Promise.all(names.map((name) => readFile(join(run, name))));
  return Object.fromEntries(names.map((name, i) => [name, files[i]!]));
}

/** Writes a YAML configuration (JSON is YAML) and returns its path. */
export async function configFile(path: string, settings: object): Promise<string> {
  await writeFile(path, JSON.stringify(settings));
  return path;
}

/** Rows of a run's metrics.jsonl. */
export async function metricRows(run: string): Promise<Record<string, number | null>[]> {
  const text = await readFile(join(run, 'metrics.jsonl'), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, number | null>);
}
