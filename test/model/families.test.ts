/** What is not Qwen2.5-VL: the language model alone, and Qwen2-VL. Their numbers are in qwen-parity-models.test.ts. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CheckpointError, InputError, Rng } from '../../src/core/index.ts';
import { startEngine, stopEngine } from '../../src/engine/index.ts';
import { SafetensorsFile } from '../../src/formats/index.ts';
import {
  type AnyModel,
  type ChatMessage,
  collate,
  convertModel,
  createAdapter,
  createModel,
  exportParameters,
  generate,
  initialValues,
  inspectModel,
  loadAnyModel,
  loadAnyModelFormat,
  loadModel,
  loadModelFormat,
  loraTargets,
  mergeAdapter,
  multimodalPositions,
  parameterShapes,
  parseAnyModelConfig,
  parseModelConfig,
  preprocess,
  promptSequence,
  requireModelFolder,
  saveModel,
} from '../../src/model/index.ts';
import { randomImage, TINY_CONFIG, TINY_PROCESSOR } from './tiny.ts';
import { tinyFolder, tinyQwen2VlFolder, tinyTextFolder } from './tiny-folder.ts';

const LORA = {
  rank: 2,
  alpha: 4,
  rsLora: false,
  dropout: 0,
  targets: ['q_proj', 'down_proj'] as ('q_proj' | 'down_proj')[],
  vision: false,
  merger: false,
};
const QUESTION = 'Rate the image.';
const REFUSAL =
  'holds a language model ("qwen2") without a vision tower: a model that sees pictures was expected';

beforeAll(() => startEngine({ backend: 'cpu' }));
afterAll(() => stopEngine());

/** The released configurations, as far as they say anything about sizes. */
const language = (sizes: number[], tied: boolean) => ({
  hidden_size: sizes[0],
  num_hidden_layers: sizes[1],
  num_attention_heads: sizes[2],
  num_key_value_heads: sizes[3],
  intermediate_size: sizes[4],
  vocab_size: sizes[5],
  tie_word_embeddings: tied,
  rope_theta: 1e6,
  rms_norm_eps: 1e-6,
});
const tower = { depth: 32, embed_dim: 1280, mlp_ratio: 4, num_heads: 16, in_chans: 3, patch_size: 14 };

test.each([
  // The sizes that the released weights' indices state, divided by two bytes.
  ['Qwen2.5-0.5B', 'qwen2', language([896, 24, 14, 2, 4864, 151936], true), undefined, 494_032_768],
  ['Qwen2.5-7B', 'qwen2', language([3584, 28, 28, 4, 18944, 152064], false), undefined, 7_615_616_512],
  ['Qwen2.5-72B', 'qwen2', language([8192, 80, 64, 8, 29568, 152064], false), undefined, 72_706_203_648],
  ['Qwen2-VL-2B', 'qwen2_vl', language([1536, 28, 12, 2, 8960, 151936], true), 1536, 2_208_985_600],
  ['Qwen2-VL-7B', 'qwen2_vl', language([3584, 28, 28, 4, 18944, 152064], false), 3584, 8_291_375_616],
])('%s has as many parameters as released', (_name, model_type, text, width, count) => {
  const vision = width === undefined ? {} : { vision_config: { ...tower, hidden_size: width } };
  const shapes = parameterShapes(parseAnyModelConfig({ model_type, ...text, ...vision }));
  const total = [...shapes.values()].reduce((sum, shape) => sum + shape.reduce((p, n) => p * n, 1), 0);
  expect(total).toBe(count);
});

describe('configuration', () => {
  test('a language model has the class defaults of transformers', () => {
    const { rms_norm_eps: _, rope_theta: __, rope_scaling: ___, ...rest } = TINY_CONFIG;
    const { text, vision, tokens } = parseAnyModelConfig({ ...rest, model_type: 'qwen2' });
    expect({ vision, epsilon: text.rmsNormEpsilon, theta: text.ropeTheta }).toEqual({
      vision: null,
      epsilon: 1e-6,
      theta: 10_000,
    });
    expect(text.mropeSection).toEqual([4, 0, 0]);
    expect(tokens).toEqual({ bos: 30, eos: [31], pad: 30 });
  });

  test('is refused where pictures will be shown', () => {
    expect(() => parseModelConfig({ ...TINY_CONFIG, model_type: 'qwen2' }, 'x')).toThrow(`x ${REFUSAL}`);
  });

  test.each([
    [{ vision_config: { hidden_size: 16, embed_dim: 24, num_heads: 7 } }, 'not a multiple of num_heads 7'],
    [{ vision_config: { hidden_size: 8, embed_dim: 16, num_heads: 2 } }, 'out_hidden_size 8 differs'],
    [{ vision_config: { hidden_size: 16, hidden_act: 'silu' } }, 'vision_config.hidden_act'],
  ])('of Qwen2-VL, %o is refused', (changes, message) => {
    expect(() => parseModelConfig({ ...TINY_CONFIG, model_type: 'qwen2_vl', ...changes })).toThrow(message);
  });

  test('a scaled rotary embedding of a language model is refused', () => {
    const json = { ...TINY_CONFIG, model_type: 'qwen2', rope_scaling: { type: 'yarn', factor: 4 } };
    expect(() => parseAnyModelConfig(json)).toThrow('rope_scaling.type');
  });
});

describe('a language model alone', () => {
  let folder: string;
  let model: AnyModel;

  beforeEach(async () => {
    folder = await tinyTextFolder();
    const format = await loadAnyModelFormat(folder);
    model = createModel(format, initialValues(format.config, new Rng(1)));
    await saveModel(model, folder, { dtype: 'F32' });
  });

  test('comes back to the bit, without files about pictures', async () => {
    const loaded = await loadAnyModel(folder);
    expect(loaded.processor).toBeNull();
    expect(await exportParameters(loaded.parameters)).toEqual(await exportParameters(model.parameters));
    expect((await readdir(folder)).sort()).toEqual([
      'config.json',
      'model.safetensors',
      'tokenizer.json',
      'tokenizer_config.json',
    ]);
  });

  test('is refused, in one sentence, where pictures will be shown', async () => {
    for (const look of [loadModel, loadModelFormat, requireModelFolder]) {
      const error = await look(folder).catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(CheckpointError);
      expect((error as CheckpointError).message).toBe(`${folder} ${REFUSAL}`);
    }
  });

  test('reads a prompt as its template writes it, parts joined', () => {
    const written = `<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n${QUESTION}<|im_end|>\n<|im_start|>assistant\n`;
    const parts: ChatMessage[] = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Rate the ' },
          { type: 'text', text: 'image.' },
        ],
      },
    ];
    for (const messages of [parts, [{ role: 'user' as const, content: QUESTION }]]) {
      const { tokenIds } = promptSequence(model, messages, []);
      expect(model.tokenizer.decode(tokenIds, { keepSpecial: true })).toBe(written);
      expect(tokenIds).toEqual(model.tokenizer.encode(written));
    }
  });

  test('a token that stands for a picture elsewhere is text here', () => {
    const imagePad = model.tokenizer.tokenId('<|image_pad|>')!;
    const { positions, ropeDelta } = multimodalPositions([1, imagePad, imagePad, 2], [], model.config);
    expect([[...positions], ropeDelta]).toEqual([[0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3], 0]);
  });

  test('a picture in a prompt is an InputError, however it gets there', () => {
    const image = preprocess(randomImage(8, 8, 1), TINY_PROCESSOR);
    const shown: ChatMessage[] = [
      { role: 'user', content: [{ type: 'image' }, { type: 'text', text: QUESTION }] },
    ];
    const said: ChatMessage[] = [{ role: 'user', content: QUESTION }];
    const sequence = { tokenIds: [1], roles: ['prompt' as const], images: [image] };
    for (const attempt of [
      () => promptSequence(model, shown, []),
      () => promptSequence(model, said, [image]),
      () => collate([sequence], model.config),
    ]) {
      expect(attempt).toThrow(InputError);
      expect(attempt).toThrow('the model reads text alone, the prompt has 1 image(s)');
    }
  });

  test('generates, and never a special token', async () => {
    const prompt = promptSequence(model, [{ role: 'user', content: QUESTION }], []);
    const [completions] = await generate(model, [prompt], {
      maxNewTokens: 12,
      temperature: 1,
      samplesPerPrompt: 4,
      rng: new Rng(3),
    });
    const ends = new Set(model.tokenizer.endOfSequenceIds);
    for (const { tokenIds } of completions!) {
      const text = tokenIds.filter((id) => !ends.has(id));
      expect(text.every((id) => model.tokenizer.decode([id]) !== '')).toBe(true);
    }
  });

  test('an adapter has the names of transformers, and comes back and merges', async () => {
    const target = join(folder, 'adapter');
    model.parameters.adapter = createAdapter(model.config, LORA, new Rng(2));
    await saveModel(model, target);
    const file = await SafetensorsFile.open(join(target, 'adapter_model.safetensors'));
    await file.close();
    expect([...file.tensors.keys()].sort()).toEqual(
      [0, 1].flatMap((layer) =>
        ['mlp.down_proj', 'self_attn.q_proj'].flatMap((name) =>
          ['A', 'B'].map((half) => `base_model.model.model.layers.${layer}.${name}.lora_${half}.weight`),
        ),
      ),
    );
    const loaded = await loadAnyModel(target);
    expect([...loaded.parameters.adapter!.pairs.keys()]).toEqual([...model.parameters.adapter.pairs.keys()]);
    await mergeAdapter(target, join(folder, 'merged'), { dtype: 'F32' });
    const merged = await loadAnyModel(join(folder, 'merged'));
    // B is 0 in a new adapter: it changes nothing.
    expect(await exportParameters(merged.parameters)).toEqual(await exportParameters(model.parameters));
  });

  test.each(['released', 'new'] as const)('asked for %s names, it keeps its own', async (names) => {
    const [converted, saved] = [join(folder, 'converted'), join(folder, 'saved')];
    await convertModel(folder, converted, { dtype: 'F32', maxShardBytes: 5e9, names });
    await saveModel(model, saved, { names });
    for (const output of [converted, saved]) {
      const file = await SafetensorsFile.open(join(output, 'model.safetensors'));
      await file.close();
      expect([...file.tensors.keys()].sort()).toEqual([...parameterShapes(model.config).keys()].sort());
    }
  });

  test('is inspected without a vision tower', async () => {
    const { family, parts, parameters, images, config, tokens } = await inspectModel(folder);
    expect({ family, images, vision: config.vision }).toEqual({
      family: 'Qwen2.5, text alone',
      images: null,
      vision: null,
    });
    expect(parts.map(({ part }) => part)).toEqual(['embedding', 'language model', 'head']);
    const vocabulary = config.text.vocabularySize;
    // Per layer: q 32x16, k and v 16x16, their biases 64, o 16x32, the MLP 3 x 24x16, two norms; and the last norm.
    expect(parameters).toBe(vocabulary * 16 + 2 * (512 + 256 + 256 + 64 + 512 + 3 * 24 * 16 + 2 * 16) + 16);
    expect(tokens.template).toContain('<|im_start|>user\nTEXT<|im_end|>');
  });

  test('a template that shows no message is refused', async () => {
    const other = await tinyTextFolder();
    await writeFile(join(other, 'chat_template.jinja'), '<|im_start|>user');
    await expect(loadAnyModelFormat(other)).rejects.toThrow(
      `the chat template of ${other} does not show the text of a user's message`,
    );
  });
});

describe('Qwen2-VL', () => {
  test('comes back to the bit under the released names', async () => {
    const folder = await tinyQwen2VlFolder();
    const format = await loadModelFormat(folder);
    const values = initialValues(format.config, new Rng(1));
    await saveModel(createModel(format, values), folder, { dtype: 'F32' });
    const loaded = await loadModel(folder);
    expect(await exportParameters(loaded.parameters)).toEqual(values);
    expect([...values.keys()].filter((name) => name.startsWith('visual.blocks.1.'))).toEqual(
      ['norm1', 'norm2', 'attn.qkv', 'attn.proj', 'mlp.fc1', 'mlp.fc2'].flatMap((layer) => [
        `visual.blocks.1.${layer}.weight`,
        `visual.blocks.1.${layer}.bias`,
      ]),
    );
  });

  test('a vision adapter changes its own MLP', async () => {
    const { config } = await loadModelFormat(await tinyQwen2VlFolder());
    const layers = [...loraTargets(config, { ...LORA, vision: true }).keys()];
    expect(layers.filter((name) => name.startsWith('visual.blocks.0.mlp'))).toEqual([
      'visual.blocks.0.mlp.fc1',
      'visual.blocks.0.mlp.fc2',
    ]);
  });

  test('is told from Qwen2.5-VL', async () => {
    const families = [await inspectModel(await tinyQwen2VlFolder()), await inspectModel(await tinyFolder())];
    expect(families.map(({ family }) => family)).toEqual(['Qwen2-VL', 'Qwen2.5-VL']);
  });
});
