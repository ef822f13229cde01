import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import { tf } from '../../src/engine/index.ts';
import { SafetensorsFile } from '../../src/formats/index.ts';
import {
  configFor,
  createModel,
  exportParameters,
  initialValues,
  loadModel,
  loadModelFormat,
  type ModelFormat,
  parseModelConfig,
  saveModel,
} from '../../src/model/index.ts';
import { TINY_CONFIG } from './tiny.ts';
import { tinyFolder } from './tiny-folder.ts';

let folder: string;
let format: ModelFormat;

beforeAll(() => tf.setBackend('cpu'));
beforeEach(async () => {
  folder = await tinyFolder();
  format = await loadModelFormat(folder);
});

const model = (seed = 1) => createModel(format, initialValues(format.config, new Rng(seed)));
const weightsIn = async (target: string) =>
  (await readdir(target)).filter((name) => name.includes('safetensors')).sort();

describe('saveModel', () => {
  test('F16 weights come back as the nearest halves', async () => {
    const saved = model();
    await saveModel(saved, folder, { dtype: 'F16' });
    const loaded = await exportParameters((await loadModel(folder)).parameters);
    for (const [name, { data }] of await exportParameters(saved.parameters)) {
      data.forEach((x, i) => {
        // 11 bits of precision, and steps of 2^-24 below 2^-14.
        const bound = Math.max(Math.abs(x) * 2 ** -11, 2 ** -25);
        expect(Math.abs(loaded.get(name)!.data[i]! - x)).toBeLessThanOrEqual(bound);
      });
    }
  });

  test('the names of newer transformers', async () => {
    await saveModel(model(), folder, { names: 'new' });
    const file = await SafetensorsFile.open(join(folder, 'model.safetensors'));
    await file.close();
    const outer = [...file.tensors.keys()].map((name) => name.split('.').slice(0, 2).join('.'));
    expect(new Set(outer)).toEqual(new Set(['model.visual', 'model.language_model']));
    await expect(loadModel(folder)).resolves.toBeDefined();
  });

  test('equal weights give equal bytes, in shards too', async () => {
    const [a, b] = [join(folder, 'a'), join(folder, 'b')];
    for (const target of [a, b]) await saveModel(model(), target, { maxShardBytes: 20_000 });
    expect(await readdir(a)).toEqual(await readdir(b));
    for (const name of await readdir(a)) {
      expect(await readFile(join(a, name)), name).toEqual(await readFile(join(b, name)));
    }
  });

  test('an older model in the folder goes, with its shards and its template; other files stay', async () => {
    const target = join(folder, 'target');
    await saveModel(model(), target, { maxShardBytes: 20_000 });
    await writeFile(join(target, 'chat_template.jinja'), 'old');
    await writeFile(join(target, 'processor_config.json'), '{"image_processor": {}}');
    await writeFile(join(target, 'training-images.json'), 'mine');
    await mkdir(join(target, 'notes'));
    const newer = model(2);
    await saveModel(newer, target, { dtype: 'F32' });
    expect(await readdir(target)).toEqual([
      'chat_template.json',
      'config.json',
      'generation_config.json',
      'model.safetensors',
      'notes',
      'preprocessor_config.json',
      'tokenizer.json',
      'tokenizer_config.json',
      'training-images.json',
    ]);
    const loaded = await loadModel(target);
    expect(loaded.chatTemplate.text).toBe(format.chatTemplate.text);
    expect(await exportParameters(loaded.parameters)).toEqual(await exportParameters(newer.parameters));
  });

  test('a save that fails leaves the older model as it was, and nothing beside it', async () => {
    const target = join(folder, 'target');
    await saveModel(model(), target, { dtype: 'F32' });
    const before = await readFile(join(target, 'model.safetensors'));
    const broken = model(2);
    const norm = broken.parameters.get('model.norm.weight')!;
    norm.assign(tf.fill(norm.shape, 1e5));
    await expect(saveModel(broken, target, { dtype: 'F16' })).rejects.toThrow(
      'tensor "model.norm.weight" holds 100000, F16 ends at 65504',
    );
    expect(await readFile(join(target, 'model.safetensors'))).toEqual(before);
    expect(await readdir(target)).not.toContain('.saving');
  });

  test('a save that fails makes no new folder', async () => {
    const broken = model();
    const norm = broken.parameters.get('model.norm.weight')!;
    norm.assign(tf.fill(norm.shape, 1e5));
    const before = await readdir(folder);
    await expect(saveModel(broken, join(folder, 'new'), { dtype: 'F16' })).rejects.toThrow('F16 ends');
    expect(await readdir(folder)).toEqual(before);
  });

  test('what an interrupted save left is replaced', async () => {
    await mkdir(join(folder, '.saving'));
    await writeFile(join(folder, '.saving', 'half'), 'x');
    await saveModel(model(), folder);
    expect(await readdir(folder)).not.toContain('.saving');
    expect(await readdir(folder)).not.toContain('half');
    expect(await weightsIn(folder)).toEqual(['model.safetensors']);
  });

  test('the template is where processors and tokenizers of transformers look for it', async () => {
    await saveModel(model(), folder);
    for (const name of ['chat_template.json', 'tokenizer_config.json']) {
      const json = JSON.parse(await readFile(join(folder, name), 'utf8')) as Record<string, unknown>;
      expect(json.chat_template).toBe(format.chatTemplate.text);
    }
  });
});

describe('the three places of a chat template', () => {
  const template = () => format.chatTemplate.text;
  const loaded = async () => (await loadModelFormat(folder)).chatTemplate.text;

  test.each([
    ['chat_template.jinja', (text: string) => text],
    ['chat_template.json', (text: string) => JSON.stringify({ chat_template: text })],
  ])('%s goes before tokenizer_config.json', async (name, write) => {
    await writeFile(join(folder, name), write(`${template()}{# newer #}`));
    expect(await loaded()).toBe(`${template()}{# newer #}`);
  });

  test('of several named templates the default one is used', async () => {
    const list = [
      { name: 'rag', template: 'x' },
      { name: 'default', template: template() },
    ];
    await writeFile(join(folder, 'chat_template.json'), JSON.stringify({ chat_template: list }));
    expect(await loaded()).toBe(template());
  });
});

test('image settings inside processor_config.json, as transformers 5 writes them, go first', async () => {
  const path = join(folder, 'preprocessor_config.json');
  const { min_pixels, max_pixels, ...rest } = JSON.parse(await readFile(path, 'utf8')) as Record<
    string,
    unknown
  >;
  const image_processor = { ...rest, size: { shortest_edge: 784, longest_edge: 78400 } };
  await writeFile(join(folder, 'processor_config.json'), JSON.stringify({ image_processor }));
  await rm(path);
  expect((await loadModelFormat(folder)).processor).toMatchObject({ minPixels: 784, maxPixels: 78400 });
});

describe('configFor', () => {
  test('the type stands under the name that the configuration uses, in its parts too', () => {
    const source = { ...TINY_CONFIG, dtype: 'bfloat16', text_config: { ...TINY_CONFIG, dtype: 'bfloat16' } };
    const written = configFor(parseModelConfig(source), 'F16');
    expect(written).toMatchObject({ dtype: 'float16', text_config: { dtype: 'float16' } });
    expect(written).not.toHaveProperty('torch_dtype');
    expect(configFor(parseModelConfig(TINY_CONFIG), 'F32')).toEqual({
      ...TINY_CONFIG,
      torch_dtype: 'float32',
    });
  });
});
