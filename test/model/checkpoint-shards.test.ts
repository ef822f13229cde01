import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import { tf } from '../../src/engine/index.ts';
import { SafetensorsFile, streamOf, type TensorData, writeSafetensors } from '../../src/formats/index.ts';
import { planShards, shardIndex } from '../../src/model/checkpoint-shards.ts';
import {
  createModel,
  exportParameters,
  initialValues,
  loadModel,
  loadModelFormat,
  type ModelFormat,
  requireModelFolder,
  saveModel,
} from '../../src/model/index.ts';
import { tinyFolder } from './tiny-folder.ts';

const INDEX = 'model.safetensors.index.json';
let folder: string;
let format: ModelFormat;

beforeAll(() => tf.setBackend('cpu'));

const values = () => initialValues(format.config, new Rng(1));
const path = (name: string) => join(folder, name);
const shard = (number: number, of: number) => `model-0000${number}-of-0000${of}.safetensors`;
const readIndex = async () =>
  JSON.parse(await readFile(path(INDEX), 'utf8')) as {
    metadata: Record<string, number>;
    weight_map: Record<string, string>;
  };
const refused = async () =>
  (await requireModelFolder(folder).then(
    () => new Error('accepted'),
    (error: unknown) => error,
  )) as Error;

describe('planShards', () => {
  const tensor = (name: string, size: number) =>
    streamOf(name, { shape: [size], data: new Float32Array(size) });
  const plan = (sizes: number[], most: number) =>
    planShards(
      sizes.map((size, i) => tensor(`t${i}`, size)),
      'BF16',
      most,
    ).map(({ file, tensors }) => [file, tensors.map(({ name }) => name).join()]);

  test('all that fits goes into model.safetensors', () => {
    expect(plan([10, 20, 30], 120)).toEqual([['model.safetensors', 't0,t1,t2']]);
  });

  test('a file is full when the next tensor would exceed the limit; a larger tensor stands alone', () => {
    expect(plan([10, 20, 31, 200, 1], 100)).toEqual([
      [shard(1, 4), 't0,t1'],
      [shard(2, 4), 't2'],
      [shard(3, 4), 't3'],
      [shard(4, 4), 't4'],
    ]);
  });

  test('the index gives bytes and numbers in all, and places by sorted name', () => {
    const shards = planShards([tensor('b', 3), tensor('a', 2)], 'F16', 6);
    expect(shardIndex(shards, 'F16')).toBe(`{
  "metadata": {
    "total_parameters": 5,
    "total_size": 10
  },
  "weight_map": {
    "a": "model-00002-of-00002.safetensors",
    "b": "model-00001-of-00002.safetensors"
  }
}
`);
  });
});

describe('a sharded folder', () => {
  beforeEach(async () => {
    folder = await tinyFolder();
    format = await loadModelFormat(folder);
    await saveModel(createModel(format, values()), folder, { dtype: 'F32', maxShardBytes: 80_000 });
  });

  test('comes back to the bit', async () => {
    expect(await exportParameters((await loadModel(folder)).parameters)).toEqual(values());
  });

  test('no shard is above the limit, and the index is true', async () => {
    const { metadata, weight_map } = await readIndex();
    const names = [...new Set(Object.values(weight_map))];
    expect(names.length).toBeGreaterThan(1);
    const found: Record<string, string> = {};
    let total = 0;
    for (const name of names) {
      const file = await SafetensorsFile.open(path(name));
      const bytes = [...file.tensors.values()].reduce((sum, { begin, end }) => sum + end - begin, 0);
      expect(bytes).toBeLessThanOrEqual(80_000);
      total += bytes;
      for (const tensor of file.tensors.keys()) found[tensor] = name;
      await file.close();
    }
    expect(found).toEqual(weight_map);
    expect(metadata).toEqual({ total_parameters: total / 4, total_size: total });
  });

  test('without its index is read when it is complete', async () => {
    await rm(path(INDEX));
    expect(await exportParameters((await loadModel(folder)).parameters)).toEqual(values());
  });

  test('missing and stray shards are named together', async () => {
    const names = [...new Set(Object.values((await readIndex()).weight_map))].sort();
    await rename(path(names[0]!), path('model-00001-of-00099.safetensors'));
    expect((await refused()).message).toBe(
      `${path(INDEX)} does not fit its folder:\n  files that are missing: ${names[0]}\n  files that it does not name: model-00001-of-00099.safetensors`,
    );
  });

  test('without its index, shards that are missing are named', async () => {
    const names = [...new Set(Object.values((await readIndex()).weight_map))].sort();
    await rm(path(INDEX));
    await rm(path(names[1]!));
    expect((await refused()).message).toBe(`${folder} lacks shards: ${names[1]}`);
    await writeFile(path('model-00002-of-00099.safetensors'), '');
    expect((await refused()).message).toMatch(/holds shards of different models: model-00001-of-0000/);
  });

  test('an index that contradicts its shards is refused with every tensor', async () => {
    const index = await readIndex();
    const [first, second, third] = Object.keys(index.weight_map) as [string, string, string];
    const places = index.weight_map;
    const wrong = Object.values(places).find((name) => name !== places[first])!;
    const was = places[first];
    await writeFile(
      path(INDEX),
      JSON.stringify({
        weight_map: { ...places, [first]: wrong, [second]: undefined, extra: places[third] },
      }),
    );
    const { message } = await refused();
    expect(message).toContain(`  ${first} is in ${was}, the index says ${wrong}`);
    expect(message).toContain(`  extra is in no shard, the index says ${places[third]}`);
    expect(message).toContain(`  ${second} is in ${places[second]}, not in the index`);
  });

  test.each(['../model.safetensors', '/etc/passwd', '.hidden'])(
    'an index that points to %s is refused',
    async (at) => {
      const index = await readIndex();
      await writeFile(path(INDEX), JSON.stringify({ weight_map: { ...index.weight_map, extra: at } }));
      expect((await refused()).message).toContain(`files outside the folder: ${at}`);
    },
  );

  test.each(['[]', '{}', '{"weight_map":{}}', '{"weight_map":[1]}', '{', 'null'])(
    'the index %s is refused',
    async (text) => {
      await writeFile(path(INDEX), text);
      expect(await refused()).toMatchObject({ code: 'CHECKPOINT' });
    },
  );

  test('a shard cut short is refused before anything is read', async () => {
    const names = [...new Set(Object.values((await readIndex()).weight_map))].sort();
    const bytes = await readFile(path(names.at(-1)!));
    await writeFile(path(names.at(-1)!), bytes.subarray(0, bytes.length - 1));
    expect(await refused()).toMatchObject({
      code: 'CHECKPOINT',
      message: expect.stringContaining(names.at(-1)!),
    });
  });

  test('one whole file beside shards is refused: nobody knows which is meant', async () => {
    await rm(path(INDEX));
    await writeSafetensors(path('model.safetensors'), values());
    expect((await refused()).message).toContain('holds model.safetensors and also shards');
  });
});

describe('names and heads', () => {
  const HEAD = 'lm_head.weight';
  const EMBEDDING = 'model.embed_tokens.weight';
  const renames: [string, (name: string) => string][] = [
    ['released', (name) => name],
    [
      'of transformers 4.52',
      (name) =>
        name.replace(/^(visual\.)/, 'model.$1').replace(/^model\.(?!visual)/, 'model.language_model.'),
    ],
    [
      'with the whole language model inside',
      (name) => name.replace(/^(model|lm_head)\./, 'language_model.$1.'),
    ],
  ];

  test.each(renames)('names %s, untied head', async (_, rename) => {
    folder = await tinyFolder({ tie_word_embeddings: false });
    format = await loadModelFormat(folder);
    const stored = [...values()].map(([name, tensor]): [string, TensorData] => [rename(name), tensor]);
    await writeSafetensors(path('model.safetensors'), new Map(stored));
    expect(await exportParameters((await loadModel(folder)).parameters)).toEqual(values());
  });

  test('a tied head stored twice must be the embedding', async () => {
    folder = await tinyFolder();
    format = await loadModelFormat(folder);
    const { shape, data } = values().get(EMBEDDING)!;
    const store = (head: TensorData) =>
      writeSafetensors(path('model.safetensors'), new Map([...values(), [HEAD, head]]));
    await store({ shape, data });
    expect((await loadModel(folder)).parameters.has(HEAD)).toBe(false);
    const other = Float32Array.from(data);
    other[other.length - 1]! += 1;
    await store({ shape, data: other });
    await expect(loadModel(folder)).rejects.toThrow('stores a head that differs from it');
    await store({ shape: [1, 16], data: new Float32Array(16) });
    await expect(loadModel(folder)).rejects.toThrow('but stores one of [1, 16]');
  });

  test('both names of one tensor are refused', async () => {
    folder = await tinyFolder();
    format = await loadModelFormat(folder);
    const again = values().get('model.norm.weight')!;
    await writeSafetensors(
      path('model.safetensors'),
      new Map([...values(), ['model.language_model.norm.weight', again]]),
    );
    expect((await refused()).message).toBe(
      `${folder} holds 1 tensor(s) twice: model.language_model.norm.weight (also as model.norm.weight)`,
    );
  });
});
