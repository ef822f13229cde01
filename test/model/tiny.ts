import { type RgbImage, Rng } from '../../src/core/index.ts';
import {
  type ImageProcessorConfig,
  initialValues,
  loadParameters,
  type ModelConfig,
  type Network,
  parseModelConfig,
  parseProcessorConfig,
} from '../../src/model/index.ts';

/** A Qwen2.5-VL small enough for the plain JavaScript backend: patches of 2 pixels, windows of 2x2 merge units. */
export const TINY_CONFIG = {
  model_type: 'qwen2_5_vl',
  hidden_size: 16,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 8,
  intermediate_size: 24,
  rms_norm_eps: 1e-6,
  rope_theta: 10000,
  rope_scaling: { type: 'mrope', mrope_section: [2, 1, 1] },
  tie_word_embeddings: true,
  vocab_size: 40,
  bos_token_id: 30,
  eos_token_id: 31,
  pad_token_id: 30,
  image_token_id: 32,
  video_token_id: 33,
  vision_start_token_id: 34,
  vision_end_token_id: 35,
  vision_config: {
    depth: 2,
    hidden_size: 16,
    num_heads: 2,
    intermediate_size: 20,
    out_hidden_size: 16,
    patch_size: 2,
    temporal_patch_size: 2,
    spatial_merge_size: 2,
    window_size: 8,
    fullatt_block_indexes: [1],
  },
};

export const TINY_PROCESSOR: ImageProcessorConfig = parseProcessorConfig({
  patch_size: 2,
  temporal_patch_size: 2,
  merge_size: 2,
  min_pixels: 16,
  max_pixels: 4096,
});

export const IMAGE = 32;
export const START = 34;
export const END = 35;

export function tinyConfig(changes: Record<string, unknown> = {}): ModelConfig {
  return parseModelConfig({ ...TINY_CONFIG, ...changes });
}

/** A network with random weights everywhere, biases and norm gains included, so that nothing hides. */
export function tinyNetwork(seed: number, config: ModelConfig = tinyConfig()): Network {
  const rng = new Rng(seed);
  const values = initialValues(config, rng);
  for (const [name, { shape, data }] of values) {
    const noise = rng.fork('noise', name);
    const centre = shape.length === 1 && name.endsWith('.weight') ? 1 : 0;
    if (shape.length === 1) for (let i = 0; i < data.length; i++) data[i] = centre + noise.normal(0, 0.3);
  }
  return { config, parameters: loadParameters(config, values) };
}

export function randomImage(width: number, height: number, seed: number): RgbImage {
  const rng = new Rng(`image ${seed}`);
  return { width, height, data: Uint8Array.from({ length: width * height * 3 }, () => rng.integer(256)) };
}
