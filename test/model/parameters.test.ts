import { beforeAll, describe, expect, test } from 'vitest';
import { CheckpointError, Rng } from '../../src/core/index.ts';
import { tf } from '../../src/engine/index.ts';
import {
  canonicalName,
  exportParameters,
  initialValues,
  loadParameters,
  NAME_STYLES,
  parameterShapes,
  parseModelConfig,
  storedName,
} from '../../src/model/index.ts';
import { TINY_CONFIG, tinyConfig } from './tiny.ts';

beforeAll(() => tf.setBackend('cpu'));

const deviation = (data: Float32Array) => Math.sqrt(data.reduce((sum, x) => sum + x * x, 0) / data.length);

describe('initialValues', () => {
  const wide = parseModelConfig({
    ...TINY_CONFIG,
    hidden_size: 128,
    head_dim: 8,
    vocab_size: 500,
    vision_config: { ...TINY_CONFIG.vision_config, out_hidden_size: 128 },
  });
  const values = initialValues(wide, new Rng(1));
  const std = (name: string) => deviation(values.get(name)!.data);

  test('linear weights have variance 1 / fan in, half the deviation where they write to the residual', () => {
    expect(std('model.layers.0.mlp.up_proj.weight') * Math.sqrt(128)).toBeCloseTo(1, 1);
    expect(std('model.layers.0.mlp.down_proj.weight') * Math.sqrt(24)).toBeCloseTo(0.5, 1);
    expect(std('model.layers.1.self_attn.o_proj.weight') * Math.sqrt(32)).toBeCloseTo(0.5, 1);
  });

  test('a tied head starts with logits of deviation 0.25', () => {
    const gain = values.get('model.norm.weight')!.data[0]!;
    // A normalised hidden state has length sqrt(128); its logit is gain * length * embedding deviation.
    expect(gain * Math.sqrt(128) * std('model.embed_tokens.weight')).toBeCloseTo(0.25, 2);
  });

  test('biases are 0 and norm gains 1', () => {
    expect(new Set(values.get('visual.blocks.0.attn.qkv.bias')!.data)).toEqual(new Set([0]));
    expect(new Set(values.get('visual.blocks.0.norm1.weight')!.data)).toEqual(new Set([1]));
  });

  test('a seed decides the values, and each tensor on its own', () => {
    const again = initialValues(wide, new Rng(1));
    expect(again).toEqual(values);
    const narrow = initialValues(tinyConfig(), new Rng(1));
    const name = 'visual.blocks.0.attn.qkv.weight'; // same shape in both, though other shapes differ
    expect(narrow.get(name)).toEqual(values.get(name));
    expect(initialValues(wide, new Rng(2)).get(name)).not.toEqual(values.get(name));
  });
});

describe('loadParameters', () => {
  test('values come back as they went in', async () => {
    const values = initialValues(tinyConfig(), new Rng(3));
    const parameters = loadParameters(tinyConfig(), values);
    expect(await exportParameters(parameters)).toEqual(values);
  });

  test('missing, extra and misshaped tensors are all named', () => {
    const values = initialValues(tinyConfig(), new Rng(3));
    values.delete('model.norm.weight');
    values.set('model.layers.9.mlp.up_proj.weight', { shape: [1], data: Float32Array.of(0) });
    values.set('visual.merger.ln_q.weight', { shape: [2], data: Float32Array.of(0, 0) });
    const load = () => loadParameters(tinyConfig(), values, 'folder/x');
    expect(load).toThrow(CheckpointError);
    expect(load).toThrow(
      'folder/x does not fit its configuration:\n' +
        '  missing (1): model.norm.weight\n' +
        '  not in the configuration (1): model.layers.9.mlp.up_proj.weight\n' +
        '  wrong shape (1): visual.merger.ln_q.weight is [2] instead of [16]',
    );
  });
});

test('names of newer transformers become the released ones', () => {
  expect(
    [
      'model.visual.blocks.0.norm1.weight',
      'model.language_model.layers.3.mlp.up_proj.weight',
      'model.layers.3.mlp.up_proj.weight',
      'lm_head.weight',
      'language_model.model.norm.weight',
      'language_model.lm_head.weight',
      'model.language_model.lm_head.weight',
      'model.lm_head.weight',
    ].map(canonicalName),
  ).toEqual([
    'visual.blocks.0.norm1.weight',
    'model.layers.3.mlp.up_proj.weight',
    'model.layers.3.mlp.up_proj.weight',
    'lm_head.weight',
    'model.norm.weight',
    'lm_head.weight',
    'lm_head.weight',
    'lm_head.weight',
  ]);
});

test.each(NAME_STYLES)('names written in the style %s are read as what they were', (style) => {
  for (const name of parameterShapes(tinyConfig({ tie_word_embeddings: false })).keys()) {
    expect(canonicalName(storedName(name, style))).toBe(name);
  }
});

test('the new style is that of transformers from 4.52 on', () => {
  expect(
    ['visual.merger.ln_q.weight', 'model.embed_tokens.weight', 'lm_head.weight'].map((name) =>
      storedName(name, 'new'),
    ),
  ).toEqual([
    'model.visual.merger.ln_q.weight',
    'model.language_model.embed_tokens.weight',
    'lm_head.weight',
  ]);
});
