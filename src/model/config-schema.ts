import { z } from 'zod';
import type { VisionConfig } from './config.ts';

/** Bounds far above any released model: beyond them a file is damaged, and building shapes would not end. */
const upTo = (most: number) => z.int().min(1).max(most);
const blocks = upTo(1024);
const width = upTo(2 ** 18);
const heads = upTo(4096);
const count = upTo(2 ** 31);
const tokenId = z.int().min(0);

/** What the towers of both families say alike. */
const towerSchema = z.object({
  depth: blocks.default(32),
  in_channels: z.literal(3).optional(),
  in_chans: z.literal(3).optional(),
  num_heads: heads.default(16),
  patch_size: upTo(256).default(14),
  temporal_patch_size: upTo(16).default(2),
  spatial_merge_size: upTo(16).default(2),
});

const windowedTowerSchema = towerSchema.extend({
  // The library's class default (3584) is not the value of any released tower, so it must be stated.
  hidden_size: width,
  intermediate_size: width.default(3420),
  window_size: upTo(2 ** 16).default(112),
  fullatt_block_indexes: z.array(z.int().min(0)).default([7, 15, 23, 31]),
  out_hidden_size: width.default(3584),
  hidden_act: z.literal('silu').default('silu'),
});

const plainTowerSchema = towerSchema.extend({
  embed_dim: width.default(1280),
  /** Width of what the merger gives out: in this family the tower's own width has another name. */
  hidden_size: width,
  mlp_ratio: z.number().positive().max(64).default(4),
  hidden_act: z.literal('quick_gelu').default('quick_gelu'),
});

/** `vision_config` of Qwen2.5-VL: gated MLP, RMS norms, attention in windows except in some blocks. */
export const windowedVisionSchema = windowedTowerSchema.transform(
  (v): VisionConfig => ({
    depth: v.depth,
    hiddenSize: v.hidden_size,
    heads: v.num_heads,
    intermediateSize: v.intermediate_size,
    patchSize: v.patch_size,
    temporalPatchSize: v.temporal_patch_size,
    spatialMergeSize: v.spatial_merge_size,
    windowSize: v.window_size,
    fullAttentionBlocks: v.fullatt_block_indexes,
    outHiddenSize: v.out_hidden_size,
    norm: 'rms',
    mlp: 'swiglu',
  }),
);

/** `vision_config` of Qwen2-VL: plain MLP, layer norms, every block attends over the whole image. */
export const plainVisionSchema = plainTowerSchema.transform(
  (v): VisionConfig => ({
    depth: v.depth,
    hiddenSize: v.embed_dim,
    heads: v.num_heads,
    intermediateSize: Math.floor(v.embed_dim * v.mlp_ratio),
    patchSize: v.patch_size,
    temporalPatchSize: v.temporal_patch_size,
    spatialMergeSize: v.spatial_merge_size,
    windowSize: Number.POSITIVE_INFINITY,
    fullAttentionBlocks: Array.from({ length: v.depth }, (_, block) => block),
    outHiddenSize: v.hidden_size,
    norm: 'layer',
    mlp: 'quick-gelu',
  }),
);

/** Scaled kinds (yarn, linear, dynamic) turn positions otherwise: read as if unscaled they would be wrong. */
const ropeType = z.enum(['default', 'mrope']).optional();
const ropeSchema = z.object({
  type: ropeType,
  rope_type: ropeType,
  mrope_section: z.tuple([width, width, width]).optional(),
  rope_theta: z.number().positive().optional(),
});

export const textSchema = z.object({
  hidden_size: width,
  num_hidden_layers: blocks,
  num_attention_heads: heads,
  num_key_value_heads: heads.nullish(),
  head_dim: width.nullish(),
  intermediate_size: width,
  vocab_size: upTo(2 ** 24),
  rms_norm_eps: z.number().positive().max(1).optional(),
  rope_theta: z.number().positive().optional(),
  rope_scaling: ropeSchema.nullish(),
  rope_parameters: ropeSchema.nullish(),
  max_position_embeddings: count.default(32_768),
  hidden_act: z.literal('silu').default('silu'),
  use_sliding_window: z.literal(false).default(false),
});

/** The top of a language model's configuration. */
export const textTopSchema = z.object({
  bos_token_id: tokenId.nullish(),
  eos_token_id: z.union([tokenId, z.array(tokenId).min(1)]).nullish(),
  pad_token_id: tokenId.nullish(),
  tie_word_embeddings: z.boolean().default(false),
});

/** The top of a vision-language model's configuration. */
export const visionTopSchema = textTopSchema.extend({
  image_token_id: tokenId.default(151_655),
  video_token_id: tokenId.default(151_656),
  vision_start_token_id: tokenId.default(151_652),
  vision_end_token_id: tokenId.nullish(),
});
