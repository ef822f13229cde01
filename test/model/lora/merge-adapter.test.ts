import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Rng } from '../../../src/core/index.ts';
import { startEngine, stopEngine, tf } from '../../../src/engine/index.ts';
import { readTrainingImages } from '../../../src/formats/index.ts';
import {
  adapterParameters,
  collate,
  createAdapter,
  createModel,
  disposeParameters,
  forward,
  initialValues,
  loadModel,
  loadModelFormat,
  loraSettingsSchema,
  mergeAdapter,
  type Network,
  readSeenImages,
  saveModel,
} from '../../../src/model/index.ts';

const PRESET = fileURLToPath(new URL('../../../models/qwen2.5-vl-mini', import.meta.url));
let scratch: string;
const path = (name: string): string => join(scratch, name);

beforeAll(async () => {
  await startEngine({ threads: 2 });
  scratch = await mkdtemp(join(tmpdir(), 'q-ponder-merge-'));
  const format = await loadModelFormat(PRESET);
  await saveModel(createModel(format, initialValues(format.config, new Rng(1))), path('base'), {
    dtype: 'F32',
  });
  const model = await loadModel(path('base'));
  const settings = loraSettingsSchema.parse({ rank: 4, alpha: 8, vision: true, merger: true });
  model.parameters.adapter = createAdapter(model.config, settings, new Rng(2));
  const rng = new Rng(3);
  for (const [name, variable] of adapterParameters(model.parameters.adapter)) {
    if (!name.endsWith('lora_B.weight')) continue;
    const values = Float32Array.from({ length: variable.size }, () => rng.normal(0, 0.1));
    tf.tidy(() => variable.assign(tf.tensor(values, variable.shape)));
  }
  await saveModel(model, path('adapter'));
  await writeFile(
    path('adapter/training-images.json'),
    JSON.stringify({ format: 1, complete: true, stages: [] }),
  );
  disposeParameters(model.parameters);
});
afterAll(async () => {
  stopEngine();
  await rm(scratch, { recursive: true, force: true });
});

function hidden(network: Network): Float32Array {
  const tokenIds = [5, 17, 200, 31, 8];
  const sequence = { tokenIds, roles: tokenIds.map(() => 'prompt' as const), images: [] };
  return tf.tidy(() =>
    forward(network, collate([sequence], network.config, { padTo: 1 })).dataSync<'float32'>(),
  );
}

it('gives one folder that computes what adapter and base compute together', async () => {
  await mergeAdapter(path('adapter'), path('merged'), { dtype: 'F32' });
  const [merged, adapted, base] = await Promise.all(
    ['merged', 'adapter', 'base'].map((name) => loadModel(path(name))),
  );
  expect(merged!.parameters.adapter).toBeUndefined();
  const [got, expected, before] = [merged!, adapted!, base!].map(hidden);
  const apart = (a: Float32Array, b: Float32Array) =>
    Math.max(...a.map((value, i) => Math.abs(value - b[i]!)));
  expect(apart(got!, expected!)).toBeLessThan(1e-4);
  expect(apart(before!, expected!)).toBeGreaterThan(0.01);
  expect(await readTrainingImages(path('merged'))).toEqual({ format: 1, complete: true, stages: [] });
});

it('takes the images that its base has seen where an adapter lists none, as a list with gaps', async () => {
  await cp(path('base'), path('seen-base'), { recursive: true });
  await cp(path('adapter'), path('foreign'), { recursive: true });
  await rm(path('foreign/training-images.json'));
  expect(await readSeenImages(path('foreign'))).toBeNull();
  const config = JSON.parse(await readFile(path('foreign/adapter_config.json'), 'utf8'));
  await writeFile(
    path('foreign/adapter_config.json'),
    JSON.stringify({ ...config, base_model_name_or_path: path('seen-base') }),
  );
  const stage = {
    stage: 'base',
    dataset: 'd',
    use: 'train',
    recordsSha256: 'a'.repeat(64),
    images: ['0'.repeat(16)],
  };
  await writeFile(
    path('seen-base/training-images.json'),
    JSON.stringify({ format: 1, complete: true, stages: [stage] }),
  );
  await mergeAdapter(path('foreign'), path('foreign-merged'));
  expect(await readTrainingImages(path('foreign-merged'))).toEqual({
    format: 1,
    complete: false,
    stages: [stage],
  });
});

it('refuses a folder that is no adapter, and one that is written to already', async () => {
  await expect(mergeAdapter(path('base'), path('other'))).rejects.toThrow(/is no adapter/);
  await expect(mergeAdapter(path('adapter'), path('base'))).rejects.toThrow(/holds \d+ file/);
  expect(await readdir(scratch)).not.toContain('other');
});
