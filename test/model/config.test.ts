import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { CheckpointError } from '../../src/core/index.ts';
import { parameterShapes, parseModelConfig, readModelConfig } from '../../src/model/index.ts';
import { TINY_CONFIG } from './tiny.ts';

/** The released 7B config.json: few vision keys, text settings at the top. */
const RELEASED_7B = {
  architectures: ['Qwen2_5_VLForConditionalGeneration'],
  attention_dropout: 0.0,
  bos_token_id: 151643,
  eos_token_id: 151645,
  vision_start_token_id: 151652,
  vision_end_token_id: 151653,
  vision_token_id: 151654,
  image_token_id: 151655,
  video_token_id: 151656,
  hidden_act: 'silu',
  hidden_size: 3584,
  intermediate_size: 18944,
  max_position_embeddings: 128000,
  max_window_layers: 28,
  model_type: 'qwen2_5_vl',
  num_attention_heads: 28,
  num_hidden_layers: 28,
  num_key_value_heads: 4,
  rms_norm_eps: 1e-6,
  rope_theta: 1000000.0,
  sliding_window: 32768,
  tie_word_embeddings: false,
  use_sliding_window: false,
  vision_config: {
    depth: 32,
    hidden_act: 'silu',
    hidden_size: 1280,
    intermediate_size: 3420,
    num_heads: 16,
    in_chans: 3,
    out_hidden_size: 3584,
    patch_size: 14,
    spatial_merge_size: 2,
    window_size: 112,
    fullatt_block_indexes: [7, 15, 23, 31],
    tokens_per_second: 2,
    temporal_patch_size: 2,
  },
  rope_scaling: { type: 'mrope', mrope_section: [16, 24, 24] },
  vocab_size: 152064,
};

const parameterCount = (json: unknown) =>
  [...parameterShapes(parseModelConfig(json)).values()].reduce(
    (sum, shape) => sum + shape.reduce((product, n) => product * n, 1),
    0,
  );

describe('parseModelConfig', () => {
  test('the released 7B model has 8,292,166,656 parameters', () => {
    expect(parameterCount(RELEASED_7B)).toBe(8_292_166_656); // the size its safetensors index states / 2 bytes
  });

  test('the newer layout with text_config means the same', () => {
    const { vision_config, image_token_id, video_token_id, model_type, ...text } = TINY_CONFIG;
    const nested = {
      model_type,
      vision_config,
      image_token_id,
      video_token_id,
      vision_start_token_id: text.vision_start_token_id,
      vision_end_token_id: text.vision_end_token_id,
      tie_word_embeddings: text.tie_word_embeddings,
      text_config: {
        ...text,
        rope_scaling: undefined,
        rope_theta: undefined,
        rope_parameters: { rope_type: 'default', rope_theta: 10000, mrope_section: [2, 1, 1] },
      },
    };
    expect({ ...parseModelConfig(nested), source: {} }).toEqual({
      ...parseModelConfig(TINY_CONFIG),
      source: {},
    });
  });

  test('every problem is listed', () => {
    const broken = {
      ...TINY_CONFIG,
      hidden_size: 'large',
      num_hidden_layers: undefined,
      vision_config: { ...TINY_CONFIG.vision_config, depth: 0 },
    };
    expect(() => parseModelConfig(broken)).toThrow(CheckpointError);
    expect(() => parseModelConfig(broken)).toThrow(
      /vision_config\.depth: .*\n.*hidden_size: .*\n.*num_hidden_layers: /,
    );
  });

  test.each([
    [{ num_key_value_heads: 3 }, 'num_key_value_heads 3'],
    [
      { rope_scaling: { mrope_section: [1, 1, 1] } },
      'mrope_section sums to 3, it must be half the head size 8',
    ],
    [{ image_token_id: 40 }, 'outside the vocabulary of 40'],
    [{ hidden_size: 24 }, 'out_hidden_size 16 differs'],
    [{ rope_scaling: { type: 'yarn', mrope_section: [2, 1, 1] } }, 'rope_scaling.type'],
    [{ vision_config: { ...TINY_CONFIG.vision_config, in_channels: 1 } }, 'vision_config.in_channels'],
    [{ use_sliding_window: true }, 'use_sliding_window'],
  ])('%o is refused', (changes, message) => {
    expect(() => parseModelConfig({ ...TINY_CONFIG, ...changes })).toThrow(message);
  });

  test.each(['llama', 'qwen3_vl', 'toString'])('a model of type %s is named in one sentence', (type) => {
    expect(() => parseModelConfig({ ...TINY_CONFIG, model_type: type }, 'x/config.json')).toThrow(
      `x/config.json describes a model of type "${type}", readable are Qwen2.5-VL ("qwen2_5_vl"); Qwen2-VL ("qwen2_vl"); Qwen2.5, text alone ("qwen2")`,
    );
  });

  test('quantised weights are named', () => {
    const quantization_config = { quant_method: 'awq', bits: 4 };
    expect(() => parseModelConfig({ ...TINY_CONFIG, quantization_config })).toThrow(
      'quantised weights (awq)',
    );
  });

  test('a vision configuration of few keys has the class defaults of Qwen2.5-VL', () => {
    const few = parseModelConfig({ ...RELEASED_7B, vision_config: { hidden_size: 1280, in_chans: 3 } });
    expect({ ...few, source: {} }).toEqual({ ...parseModelConfig(RELEASED_7B), source: {} });
  });

  test('a tied head may be declared at the top or in text_config', () => {
    const { tie_word_embeddings: _, ...rest } = TINY_CONFIG;
    const tied = (top: object, text: object) =>
      parseModelConfig({ ...rest, ...top, text_config: { ...rest, ...text } }).text.tieWordEmbeddings;
    expect(tied({ tie_word_embeddings: true }, {})).toBe(true);
    expect(tied({}, { tie_word_embeddings: true })).toBe(true);
    expect(tied({ tie_word_embeddings: false }, { tie_word_embeddings: true })).toBe(true); // saved before transformers 5
    expect(tied({}, {})).toBe(false);
  });

  test('ids that a nested top leaves out or null come from text_config', () => {
    const { bos_token_id, eos_token_id, pad_token_id, ...top } = TINY_CONFIG;
    const nested = { ...top, eos_token_id: null, text_config: { ...TINY_CONFIG, eos_token_id: [31, 30] } };
    expect(parseModelConfig(nested).tokens).toMatchObject({ bos: 30, eos: [31, 30], pad: 30 });
  });

  test('something that is no object is refused', () => {
    expect(() => parseModelConfig(null)).toThrow(CheckpointError);
  });
});

describe('the miniature', () => {
  const folder = new URL('../../models/qwen2.5-vl-mini/', import.meta.url).pathname;

  test('fits 4 MB of bfloat16 with the largest vocabulary allowed', async () => {
    const json = JSON.parse(await readFile(`${folder}config.json`, 'utf8')) as object;
    expect(parameterCount({ ...json, vocab_size: 1024 }) * 2).toBeLessThan(4_000_000);
  });

  test('has the planned towers', async () => {
    const { vision, text } = await readModelConfig(`${folder}config.json`);
    expect([vision.depth, vision.hiddenSize, text.layers, text.hiddenSize, text.headSize]).toEqual([
      2, 160, 2, 128, 32,
    ]);
  });
});
