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

const MODEL_TYPE = 'qwen2_5_vl';

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
  in_channels: z.literal(3).optional(),
  in_chans: z.literal(3).optional(),
  num_heads: heads.default(16),
  intermediate_size: width.default(3420),
  patch_size: upTo(256).default(14),
  temporal_patch_size: upTo(16).default(2),
  spatial_merge_size: upTo(16).default(2),
  window_size: upTo(2 ** 16).default(112),
  fullatt_block_indexes: z.array(z.int().min(0)).default([7, 15, 23, 31]),
  out_hidden_size: width.default(3584),
  hidden_act: z.literal('silu').default('silu'),
});

/** Scaled kinds (yarn, linear, dynamic) turn positions otherwise: read as if unscaled they would be wrong. */
const ropeType = z.enum(['default', 'mrope']).optional();
const ropeSchema = z.object({
  type: ropeType,
  rope_type: ropeType,
  mrope_section: z.tuple([width, width, width]).optional(),
  rope_theta: z.number().positive().optional(),
});

const textSchema = z.object({
  hidden_size: width,
  num_hidden_layers: blocks,
  num_attention_heads: heads,
  num_key_value_heads: heads.nullish(),
  head_dim: width.nullish(),
  intermediate_size: width,
  vocab_size: upTo(2 ** 24),
  rms_norm_eps: z.number().positive().max(1).default(1e-5),
  rope_theta: z.number().positive().optional(),
  rope_scaling: ropeSchema.nullish(),
  rope_parameters: ropeSchema.nullish(),
  max_position_embeddings: count.default(32_768),
  hidden_act: z.literal('silu').default('silu'),
  use_sliding_window: z.literal(false).default(false),
});

const topSchema = z.object({
  image_token_id: tokenId.default(151_655),
  video_token_id: tokenId.default(151_656),
  vision_start_token_id: tokenId.default(151_652),
  vision_end_token_id: tokenId.nullish(),
  bos_token_id: tokenId.nullish(),
  eos_token_id: z.union([tokenId, z.array(tokenId).min(1)]).nullish(),
  pad_token_id: tokenId.nullish(),
  tie_word_embeddings: z.boolean().default(false),
});

/** Keys that the top of a nested configuration may leave to its text settings. */
const TEXT_KEYS_OF_TOP = ['bos_token_id', 'eos_token_id', 'pad_token_id'] as const;

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
  const source = requireArchitecture(json, origin);
  const nested = isObject(source.text_config) ? source.text_config : undefined;
  const top = check(topSchema, withTextKeys(source, nested), '');
  const vision = check(visionSchema, source.vision_config, 'vision_config');
  const text = check(textSchema, nested ?? source, nested === undefined ? '' : 'text_config');
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
      keyValueHeads: text.num_key_value_heads ?? text.num_attention_heads,
      headSize: text.head_dim ?? text.hidden_size / text.num_attention_heads,
      intermediateSize: text.intermediate_size,
      vocabularySize: text.vocab_size,
      rmsNormEpsilon: text.rms_norm_eps,
      ropeTheta: text.rope_theta ?? rope?.rope_theta ?? 1_000_000,
      mropeSection: rope?.mrope_section ?? [16, 24, 24],
      tieWordEmbeddings: top.tie_word_embeddings,
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

type JsonObject = Record<string, unknown>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** CheckpointError, in one sentence, for what is no Qwen2.5-VL at all: its keys would all be wrong. */
function requireArchitecture(json: unknown, origin: string): JsonObject {
  const source = isObject(json) ? json : {};
  const type = source.model_type;
  if (type !== MODEL_TYPE) {
    const got = typeof type === 'string' ? `describes a model of type "${type}"` : 'names no model_type';
    throw new CheckpointError(`${origin} ${got}, readable is Qwen2.5-VL ("${MODEL_TYPE}") alone`, {
      hint: 'give a folder of Qwen2.5-VL, or of a model trained from it',
    });
  }
  const quantized = source.quantization_config;
  if (quantized !== undefined && quantized !== null) {
    const method = isObject(quantized) ? quantized.quant_method : undefined;
    throw new CheckpointError(
      `${origin} describes quantised weights (${String(method ?? 'quantization_config')}), readable are F32, F16 and BF16`,
      { hint: 'give the model as it was released, before quantisation' },
    );
  }
  return source;
}

/** The top of the configuration, with what it leaves to its text settings. A tied head may be declared in either. */
function withTextKeys(source: JsonObject, text: JsonObject | undefined): JsonObject {
  if (text === undefined) return source;
  const merged = { ...source };
  for (const key of TEXT_KEYS_OF_TOP) merged[key] ??= text[key];
  if (text.tie_word_embeddings === true) merged.tie_word_embeddings = true;
  return merged;
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
