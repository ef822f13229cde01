import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CheckpointError, InputError, Rng } from '../../src/core/index.ts';
import { tf } from '../../src/engine/index.ts';
import { SafetensorsFile, type TensorData, writeSafetensors } from '../../src/formats/index.ts';
import {
  appendTokens,
  createModel,
  exportParameters,
  initialValues,
  loadModel,
  loadModelFormat,
  type ModelFormat,
  preprocess,
  promptSequence,
  readModelMetadata,
  requireModelFolder,
  saveModel,
} from '../../src/model/index.ts';
import { randomImage } from './tiny.ts';
import { changeJson, tinyFolder } from './tiny-folder.ts';

let folder: string;
let format: ModelFormat;

beforeAll(() => tf.setBackend('cpu'));

beforeEach(async () => {
  folder = await tinyFolder();
  format = await loadModelFormat(folder);
});

const values = () => initialValues(format.config, new Rng(1));

describe('saveModel and loadModel', () => {
  test('F32 weights come back to the bit', async () => {
    await saveModel(createModel(format, values()), folder, { dtype: 'F32' });
    expect(await exportParameters((await loadModel(folder)).parameters)).toEqual(values());
  });

  test('BF16 weights come back within half a unit in the last of 8 bits', async () => {
    await saveModel(createModel(format, values()), folder);
    const loaded = await exportParameters((await loadModel(folder)).parameters);
    for (const [name, { data }] of values()) {
      const got = loaded.get(name)!.data;
      data.forEach((x, i) => {
        expect(Math.abs(got[i]! - x)).toBeLessThanOrEqual(Math.abs(x) * 2 ** -8);
      });
    }
  });

  test('metadata and keys we do not read are kept', async () => {
    const target = join(folder, 'saved');
    await saveModel(createModel(format, values()), target, { metadata: { step: '7' } });
    expect(await readModelMetadata(target)).toEqual({ format: 'pt', step: '7' });
    const config = JSON.parse(await readFile(join(target, 'config.json'), 'utf8')) as Record<string, unknown>;
    expect(config.a_key_we_do_not_read).toEqual([1]);
    expect(config.torch_dtype).toBe('bfloat16');
  });

  test('a saved folder saves to an equal folder', async () => {
    const [a, b] = [join(folder, 'a'), join(folder, 'b')];
    await saveModel(createModel(format, values()), a);
    await saveModel(await loadModel(a), b);
    expect(await readdir(b)).toEqual(await readdir(a));
    for (const name of await readdir(a)) {
      expect(await readFile(join(b, name)), name).toEqual(await readFile(join(a, name)));
    }
  });

  test('shards with the names of newer transformers, and a second copy of a tied head', async () => {
    const renamed = [...values()].map(([name, tensor]): [string, TensorData] => [
      name.replace(/^visual\./, 'model.visual.').replace(/^model\.(?!visual)/, 'model.language_model.'),
      tensor,
    ]);
    renamed.push(['lm_head.weight', values().get('model.embed_tokens.weight')!]);
    await writeSafetensors(join(folder, 'model-00001-of-00002.safetensors'), new Map(renamed.slice(0, 9)));
    await writeSafetensors(join(folder, 'model-00002-of-00002.safetensors'), new Map(renamed.slice(9)));
    expect(await exportParameters((await loadModel(folder)).parameters)).toEqual(values());
  });

  test('a tensor in two shards is refused', async () => {
    await writeSafetensors(join(folder, 'model-00001-of-00002.safetensors'), values());
    await writeSafetensors(join(folder, 'model-00002-of-00002.safetensors'), values());
    await expect(loadModel(folder)).rejects.toThrow('twice');
  });

  test('weights of another configuration are refused before they are read', async () => {
    const wrong = values();
    wrong.delete('model.norm.weight');
    await writeSafetensors(join(folder, 'model.safetensors'), wrong);
    await expect(loadModel(folder)).rejects.toThrow('missing (1): model.norm.weight');
  });

  test('a folder without weights, template or existence', async () => {
    await expect(loadModel(folder)).rejects.toThrow('no model.safetensors');
    await writeFile(join(folder, 'tokenizer_config.json'), '{}');
    await expect(loadModelFormat(folder)).rejects.toThrow('no chat template');
    await writeFile(join(folder, 'config.json'), '{');
    await expect(loadModelFormat(folder)).rejects.toThrow(CheckpointError);
  });

  test.each(['config.json', 'tokenizer.json', 'tokenizer_config.json', 'preprocessor_config.json'])(
    'a folder without %s names it',
    async (name) => {
      await rm(join(folder, name));
      await expect(loadModel(folder)).rejects.toMatchObject({
        code: 'CHECKPOINT',
        message: `${join(folder, name)} is missing: no such file or folder`,
      });
    },
  );

  test('a folder that is not there, and a file in its place, are named', async () => {
    await rm(folder, { recursive: true });
    await expect(loadModelFormat(folder)).rejects.toMatchObject({
      code: 'CHECKPOINT',
      message: `${folder} is missing: no such file or folder`,
    });
    await writeFile(folder, 'a file');
    await expect(loadModelFormat(folder)).rejects.toMatchObject({
      code: 'CHECKPOINT',
      message: `${folder} is a file, a model folder was expected`,
    });
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY])(
    'weights with %d are refused, with the tensor',
    async (bad) => {
      const damaged = values();
      damaged.get('model.norm.weight')!.data[3] = bad;
      await writeSafetensors(join(folder, 'model.safetensors'), damaged);
      await expect(loadModel(folder)).rejects.toMatchObject({
        code: 'CHECKPOINT',
        message: expect.stringContaining('NaN or infinite, in 1 tensor(s):\n  model.norm.weight: 1 of 16'),
      });
    },
  );

  test('requireModelFolder takes a whole folder and refuses one without weights', async () => {
    await expect(requireModelFolder(folder)).rejects.toThrow('no model.safetensors');
    await saveModel(createModel(format, values()), folder);
    await expect(requireModelFolder(folder)).resolves.toBeUndefined();
  });

  test('weights are stored under the released names', async () => {
    await saveModel(createModel(format, values()), folder);
    const file = await SafetensorsFile.open(join(folder, 'model.safetensors'));
    expect(file.tensors.get('visual.merger.mlp.2.weight')).toMatchObject({ dtype: 'BF16', shape: [16, 64] });
    expect(file.tensors.has('lm_head.weight')).toBe(false);
    await file.close();
  });
});

describe('a damaged file of a model folder is a CheckpointError', () => {
  test.each<[string, string, (json: Record<string, unknown>) => unknown, RegExp]>([
    ['no decoder', 'tokenizer.json', (json) => ({ ...json, decoder: null }), /tokenizer/],
    ['no decoder key', 'tokenizer.json', ({ decoder: _, ...json }) => json, /tokenizer/],
    ['no model', 'tokenizer.json', ({ model: _, ...json }) => json, /not a BPE tokenizer/],
    ['no vocabulary', 'tokenizer.json', (json) => ({ ...json, model: { type: 'BPE' } }), /tokenizer/],
    ['null', 'tokenizer.json', () => null, /not a BPE tokenizer/],
    ['null', 'tokenizer_config.json', () => null, /must hold a JSON object, got null/],
    ['a list', 'tokenizer_config.json', () => [], /must hold a JSON object/],
    ['null', 'config.json', () => null, /names no model_type, readable are Qwen2\.5-VL/],
    ['null', 'preprocessor_config.json', () => null, /not a usable image processor/],
    [
      'a template that throws',
      'tokenizer_config.json',
      (json) => ({ ...json, chat_template: '{{ raise_exception("no") }}' }),
      /chat template of .* fails: /,
    ],
    [
      'a template that calls what is not there',
      'tokenizer_config.json',
      (json) => ({ ...json, chat_template: '{{ messages.nothing() }}' }),
      /chat template of .* fails: /,
    ],
    [
      'a template without a place for the image',
      'tokenizer_config.json',
      (json) => ({ ...json, chat_template: 'hello' }),
      /gives one image 0 places/,
    ],
    ['a huge depth', 'config.json', (json) => ({ ...json, num_hidden_layers: 1e9 }), /num_hidden_layers: /],
    ['a huge width', 'config.json', (json) => ({ ...json, hidden_size: 1e9 }), /hidden_size: /],
    [
      'huge patches',
      'config.json',
      (json) => ({ ...json, vision_config: { ...(json.vision_config as object), patch_size: 1e6 } }),
      /vision_config\.patch_size: /,
    ],
    ['huge patches', 'preprocessor_config.json', (json) => ({ ...json, patch_size: 1e6 }), /patch_size: /],
    [
      'a huge least area',
      'preprocessor_config.json',
      (json) => ({ ...json, min_pixels: 1e12 }),
      /min_pixels: /,
    ],
    [
      'a least area above the largest',
      'preprocessor_config.json',
      (json) => ({ ...json, min_pixels: 60_000 }),
      /min_pixels 60000 is above max_pixels 50176/,
    ],
    [
      'an area of no token',
      'preprocessor_config.json',
      (json) => ({ ...json, min_pixels: 1, max_pixels: 100 }),
      /max_pixels 100 is less/,
    ],
    ['no spread', 'preprocessor_config.json', (json) => ({ ...json, image_std: [1, 0, 1] }), /image_std/],
    [
      "another model's patches",
      'preprocessor_config.json',
      (json) => ({ ...json, patch_size: 16, temporal_patch_size: 1 }),
      /patch_size is 16, config\.json says 14\n {2}temporal_patch_size is 1, config\.json says 2/,
    ],
  ])('%s: %s', async (_what, name, changes, message) => {
    await changeJson(folder, name, changes);
    const error = await loadModelFormat(folder).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(CheckpointError);
    expect((error as CheckpointError).message).toMatch(message);
  });
});

describe('promptSequence', () => {
  const question = [
    { role: 'system' as const, content: 'Rate.' },
    {
      role: 'user' as const,
      content: [
        { type: 'image' as const },
        { type: 'text' as const, text: 'Rate the quality of the image.' },
      ],
    },
  ];
  // 112 x 56 pixels are 8 x 4 patches, 8 image tokens.
  const image = () => preprocess(randomImage(112, 56, 1), format.processor);

  test('the text of the template, one pad per image token', () => {
    const { tokenIds, roles } = promptSequence(format, question, [image()]);
    expect(format.tokenizer.decode(tokenIds, { keepSpecial: true })).toBe(
      `<|im_start|>system\nRate.<|im_end|>\n<|im_start|>user\n<|vision_start|>${'<|image_pad|>'.repeat(8)}` +
        '<|vision_end|>Rate the quality of the image.<|im_end|>\n<|im_start|>assistant\n',
    );
    expect(new Set(roles)).toEqual(new Set(['prompt']));
  });

  test('a response is appended as action', () => {
    const prompt = promptSequence(format, question, [image()]);
    const answered = appendTokens(prompt, [1, 2], 'action');
    expect(answered.tokenIds.slice(-2)).toEqual([1, 2]);
    expect(answered.roles.slice(-3)).toEqual(['prompt', 'action', 'action']);
  });

  test.each([0, 2])('%i images for one place are refused', (count) => {
    const images = Array.from({ length: count }, image);
    expect(() => promptSequence(format, question, images)).toThrow(InputError);
  });
});
