import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import { tf } from '../../src/engine/index.ts';
import type { TensorData } from '../../src/formats/index.ts';
import {
  baseFingerprint,
  createModel,
  initialValues,
  loadModelFormat,
  type ModelFormat,
  type SaveOptions,
  saveModel,
} from '../../src/model/index.ts';
import { changeJson, tinyFolder } from './tiny-folder.ts';

let folder: string;
let format: ModelFormat;
let weights: Map<string, TensorData>;

beforeAll(() => tf.setBackend('cpu'));
beforeEach(async () => {
  folder = await tinyFolder();
  format = await loadModelFormat(folder);
  weights = initialValues(format.config, new Rng(1));
  // Values that bfloat16 holds, so that every type can store them.
  for (const { data } of weights.values()) for (let i = 0; i < data.length; i++) data[i] = (i % 64) / 64;
});

let saved = 0;
async function fingerprint(options: SaveOptions = {}): Promise<string> {
  const target = join(folder, `saved-${saved++}`);
  await saveModel(createModel(format, weights), target, options);
  return baseFingerprint(target);
}

describe('baseFingerprint', () => {
  test('is the same whatever the files look like', async () => {
    const first = await fingerprint({ dtype: 'F32' });
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(await fingerprint({ dtype: 'BF16' })).toBe(first);
    expect(await fingerprint({ dtype: 'F16', names: 'new', maxShardBytes: 20_000 })).toBe(first);
  });

  test('keys that say nothing about the weights do not matter', async () => {
    await saveModel(createModel(format, weights), folder);
    const first = await baseFingerprint(folder);
    await changeJson(folder, 'config.json', (json) => ({
      ...json,
      transformers_version: '5',
      use_cache: false,
    }));
    expect(await baseFingerprint(folder)).toBe(first);
    await changeJson(folder, 'config.json', (json) => ({ ...json, rope_theta: 5000 }));
    expect(await baseFingerprint(folder)).not.toBe(first);
  });

  test.each(['model.norm.weight', 'model.layers.1.mlp.up_proj.weight', 'visual.blocks.0.attn.qkv.bias'])(
    'another value in %s is another model',
    async (name) => {
      const first = await fingerprint({ dtype: 'F32' });
      weights.get(name)!.data[1]! += 2 ** -20;
      expect(await fingerprint({ dtype: 'F32' })).not.toBe(first);
    },
  );
});
