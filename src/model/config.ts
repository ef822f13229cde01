import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { asStorageError, CheckpointError } from '../core/index.ts';

export interface VisionConfig {
  depth: number;
  hiddenSize: number;
  heads: number;
  intermediateSize: number;
  /** Side of a patch in pixels. */
  patchSize: number;
  /** Frames per patch; a still picture is repeated this often. */
  temporalPatchSize: number;
  /** The merger joins spatialMergeSize x spatialMergeSize patches to one image token. */
  spatialMergeSize: number;
  /** Side of an attention window in pixels. */
  windowSize: number;
  /** Blocks that attend over the whole image; the others attend inside windows. */
  fullAttentionBlocks: number[];
  outHiddenSize: number;
}

export interface TextConfig {
  hiddenSize: number;
  layers: number;
  heads: number;
  keyValueHeads: number;
  headSize: number;
  intermediateSize: number;
  vocabularySize: number;
  rmsNormEpsilon: number;
  ropeTheta: number;
  /** Rotary frequencies that turn with time, height and width; they sum to headSize / 2. */
  mropeSection: [number, number, number];
  tieWordEmbeddings: boolean;
  maxPositions: number;
}

export interface SpecialTokenIds {
  bos: number | undefined;
  eos: number[];
  pad: number | undefined;
  imagePad: number;
  videoPad: number;
  visionStart: number;
  visionEnd: number;
}

export interface ModelConfig {
  vision: VisionConfig;
  text: TextConfig;
  tokens: SpecialTokenIds;
  /** The config.json this came from, kept so that a saved model keeps keys we do not read. */
  source: Readonly<Record<string, unknown>>;
}

/** Bounds far above any released model: beyond them a file is damaged, and building shapes would not end. */
const upTo = (most: number) => z.int().min(1).max(most);
const blocks = upTo(1024);
const width = upTo(2 ** 18);
const heads = upTo(4096);
const count = upTo(2 ** 31);
const tokenId = z.int().min(0);

const visionSchema = z.object({
  depth: blocks.default(32),
  // The library's class default (3584) is not the value of any released tower, so it must be stated.
  hidden_size: width,
  num_heads: heads.default(16),
  intermediate_size: width.default(3420),
  patch_size: upTo(256).default(14),
  temporal_patch_size: upTo(16).default(2),
  spatial_merge_size: upTo(16).default(2),
  window_size: upTo(2 ** 16).default(112),
  fullatt_block_indexes: z.array(z.int().min(0)).default([7, 15, 23, 31]),
  out_hidden_size: width,
  hidden_act: z.literal('silu').default('silu'),
});

const ropeSchema = z.object({
  type: z.string().optional(),
  rope_type: z.string().optional(),
  mrope_section: z.tuple([width, width, width]),
  rope_theta: z.number().positive().optional(),
});

const textSchema = z.object({
  hidden_size: width,
  num_hidden_layers: blocks,
  num_attention_heads: heads,
  num_key_value_heads: heads,
  head_dim: width.nullish(),
  intermediate_size: width,
  vocab_size: upTo(2 ** 24),
  rms_norm_eps: z.number().positive().max(1).default(1e-6),
  rope_theta: z.number().positive().optional(),
  rope_scaling: ropeSchema.nullish(),
  rope_parameters: ropeSchema.nullish(),
  tie_word_embeddings: z.boolean().default(false),
  max_position_embeddings: count.default(128_000),
  hidden_act: z.literal('silu').default('silu'),
  use_sliding_window: z.literal(false).default(false),
});

const topSchema = z.object({
  model_type: z.literal('qwen2_5_vl'),
  vision_config: z.unknown(),
  image_token_id: tokenId,
  video_token_id: tokenId,
  vision_start_token_id: tokenId,
  vision_end_token_id: tokenId.optional(),
  bos_token_id: tokenId.nullish(),
  eos_token_id: z.union([tokenId, z.array(tokenId).min(1)]).nullish(),
  pad_token_id: tokenId.nullish(),
  tie_word_embeddings: z.boolean().optional(),
});

/**
 * Reads a Qwen2.5-VL config.json in either layout: text settings at the top (as released) or under
 * `text_config` (newer transformers). All problems are reported in one CheckpointError.
 */
export function parseModelConfig(json: unknown, origin = 'config.json'): ModelConfig {
  const problems: string[] = [];
  const check = <S extends z.ZodType>(schema: S, value: unknown, at: string): z.infer<S> | undefined => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) {
      problems.push(`${[at, ...issue.path].filter((part) => part !== '').join('.')}: ${issue.message}`);
    }
    return undefined;
  };
  const source = (typeof json === 'object' && json !== null ? json : {}) as Record<string, unknown>;
  const nested = typeof source.text_config === 'object' && source.text_config !== null;
  const top = check(topSchema, nested ? { ...(source.text_config as object), ...source } : source, '');
  const vision = check(visionSchema, source.vision_config, 'vision_config');
  const text = check(textSchema, nested ? source.text_config : source, nested ? 'text_config' : '');
  if (top === undefined || vision === undefined || text === undefined) throw badConfig(origin, problems);

  const rope = text.rope_scaling ?? text.rope_parameters;
  const config: ModelConfig = {
    vision: {
      depth: vision.depth,
      hiddenSize: vision.hidden_size,
      heads: vision.num_heads,
      intermediateSize: vision.intermediate_size,
      patchSize: vision.patch_size,
      temporalPatchSize: vision.temporal_patch_size,
      spatialMergeSize: vision.spatial_merge_size,
      windowSize: vision.window_size,
      fullAttentionBlocks: vision.fullatt_block_indexes,
      outHiddenSize: vision.out_hidden_size,
    },
    text: {
      hiddenSize: text.hidden_size,
      layers: text.num_hidden_layers,
      heads: text.num_attention_heads,
      keyValueHeads: text.num_key_value_heads,
      headSize: text.head_dim ?? text.hidden_size / text.num_attention_heads,
      intermediateSize: text.intermediate_size,
      vocabularySize: text.vocab_size,
      rmsNormEpsilon: text.rms_norm_eps,
      ropeTheta: text.rope_theta ?? rope?.rope_theta ?? 1_000_000,
      mropeSection: rope?.mrope_section ?? [16, 24, 24],
      tieWordEmbeddings: top.tie_word_embeddings ?? text.tie_word_embeddings,
      maxPositions: text.max_position_embeddings,
    },
    tokens: {
      bos: top.bos_token_id ?? undefined,
      eos: [top.eos_token_id ?? []].flat(),
      pad: top.pad_token_id ?? undefined,
      imagePad: top.image_token_id,
      videoPad: top.video_token_id,
      visionStart: top.vision_start_token_id,
      visionEnd: top.vision_end_token_id ?? top.vision_start_token_id + 1,
    },
    source,
  };
  const conflicts = crossChecks(config);
  if (conflicts.length > 0) throw badConfig(origin, conflicts);
  return config;
}

export async function readModelConfig(path: string): Promise<ModelConfig> {
  return parseModelConfig(await readJsonFile(path), path);
}

/**
 * Reads a JSON file of a model folder: CheckpointError when it is not there or not JSON, StorageError when it
 * cannot be read.
 */
export async function readJsonFile(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw asMissing(error, path) ?? asStorageError(error, `reading ${path}`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CheckpointError(`${path} is not JSON: ${(error as Error).message}`);
  }
}

/** A CheckpointError where the error says that a file of a model folder is not there; otherwise undefined. */
export function asMissing(error: unknown, path: string): CheckpointError | undefined {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'EISDIR') return undefined;
  return new CheckpointError(
    `${path} is missing: ${code === 'EISDIR' ? 'it is a folder, not a file' : 'no such file or folder'}`,
    {
      hint: 'give a checkpoint folder in Hugging Face layout: config.json, tokenizer.json, tokenizer_config.json, preprocessor_config.json and model.safetensors',
      cause: error,
    },
  );
}

function crossChecks({ vision, text, tokens }: ModelConfig): string[] {
  const problems: string[] = [];
  const require = (holds: boolean, problem: string) => {
    if (!holds) problems.push(problem);
  };
  require(vision.hiddenSize % vision.heads ===
    0, `vision hidden_size ${vision.hiddenSize} is not a multiple of num_heads ${vision.heads}`);
  require((vision.hiddenSize / vision.heads) % 4 ===
    0, 'the vision head size must be a multiple of 4 (two axes of rotated pairs)');
  require(Number.isInteger(text.headSize) &&
    text.headSize % 2 === 0, `the text head size ${text.headSize} must be an even whole number`);
  require(text.heads % text.keyValueHeads ===
    0, `num_attention_heads ${text.heads} is not a multiple of num_key_value_heads ${text.keyValueHeads}`);
  const sections = text.mropeSection.reduce((sum, n) => sum + n, 0);
  require(sections * 2 ===
    text.headSize, `mrope_section sums to ${sections}, it must be half the head size ${text.headSize}`);
  require(vision.outHiddenSize ===
    text.hiddenSize, `out_hidden_size ${vision.outHiddenSize} differs from the text hidden_size ${text.hiddenSize}`);
  require(vision.windowSize % (vision.patchSize * vision.spatialMergeSize) ===
    0, `window_size ${vision.windowSize} is not a multiple of patch_size x spatial_merge_size`);
  const ids = [tokens.imagePad, tokens.videoPad, tokens.visionStart, tokens.visionEnd, ...tokens.eos];
  require(ids.every(
    (id) => id < text.vocabularySize,
  ), `a special token id is outside the vocabulary of ${text.vocabularySize}`);
  return problems;
}

const badConfig = (origin: string, problems: string[]): CheckpointError =>
  new CheckpointError(
    `${origin} is not a usable Qwen2.5-VL configuration:\n${problems.map((p) => `  ${p}`).join('\n')}`,
    { hint: 'compare it with models/qwen2.5-vl-mini/config.json' },
  );
