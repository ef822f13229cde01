import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { asStorageError, CheckpointError } from '../core/index.ts';
import { configConflicts } from './config-conflicts.ts';
import {
  plainVisionSchema,
  textSchema,
  textTopSchema,
  visionTopSchema,
  windowedVisionSchema,
} from './config-schema.ts';

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
  /** Side of an attention window in pixels; infinite in a tower without windows. */
  windowSize: number;
  /** Blocks that attend over the whole image; the others attend inside windows. */
  fullAttentionBlocks: number[];
  outHiddenSize: number;
  /** RMSNorm in Qwen2.5-VL, LayerNorm in Qwen2-VL. */
  norm: 'rms' | 'layer';
  /** SwiGLU in Qwen2.5-VL, two linear layers around a QuickGELU in Qwen2-VL. */
  mlp: 'swiglu' | 'quick-gelu';
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
  /** Rotary frequencies that turn with time, height and width; they sum to headSize / 2. Text alone has one axis. */
  mropeSection: [number, number, number];
  tieWordEmbeddings: boolean;
  maxPositions: number;
}

/** Tokens of every language model. */
export interface TextTokenIds {
  bos: number | undefined;
  eos: number[];
  pad: number | undefined;
}

export interface SpecialTokenIds extends TextTokenIds {
  imagePad: number;
  videoPad: number;
  visionStart: number;
  visionEnd: number;
}

interface CommonConfig {
  text: TextConfig;
  /** The config.json this came from, kept so that a saved model keeps keys we do not read. */
  source: Readonly<Record<string, unknown>>;
}

/** A model that sees pictures. */
export interface ModelConfig extends CommonConfig {
  type: 'qwen2_5_vl' | 'qwen2_vl';
  vision: VisionConfig;
  tokens: SpecialTokenIds;
}

/** A language model alone: Qwen2 and Qwen2.5. */
export interface TextModelConfig extends CommonConfig {
  type: 'qwen2';
  vision: null;
  tokens: TextTokenIds;
}

/** `vision` tells the two apart. */
export type AnyModelConfig = ModelConfig | TextModelConfig;
export type ModelType = AnyModelConfig['type'];

/** The families by the `model_type` of their config.json, as people call them. */
export const MODEL_FAMILIES: Readonly<Record<ModelType, string>> = {
  qwen2_5_vl: 'Qwen2.5-VL',
  qwen2_vl: 'Qwen2-VL',
  qwen2: 'Qwen2.5, text alone',
};

/** Values of keys that a file leaves out: the class defaults of transformers. */
const TEXT_DEFAULTS: Readonly<Record<ModelType, { rmsNormEpsilon: number; ropeTheta: number }>> = {
  qwen2_5_vl: { rmsNormEpsilon: 1e-5, ropeTheta: 1_000_000 },
  qwen2_vl: { rmsNormEpsilon: 1e-5, ropeTheta: 1_000_000 },
  qwen2: { rmsNormEpsilon: 1e-6, ropeTheta: 10_000 },
};

/** Keys that the top of a nested configuration may leave to its text settings. */
const TEXT_KEYS_OF_TOP = ['bos_token_id', 'eos_token_id', 'pad_token_id'] as const;

/** What is wrong with a configuration, collected so that all of it can be said at once. */
class ConfigReader {
  readonly problems: string[] = [];

  check<S extends z.ZodType>(schema: S, value: unknown, at: string): z.infer<S> | undefined {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) {
      this.problems.push(`${[at, ...issue.path].filter((part) => part !== '').join('.')}: ${issue.message}`);
    }
    return undefined;
  }
}

/**
 * Reads the config.json of a model of any family. The text settings of a vision-language model may be at the top (as
 * released) or under `text_config` (newer transformers). All problems are reported in one CheckpointError.
 */
export function parseAnyModelConfig(json: unknown, origin = 'config.json'): AnyModelConfig {
  const { type, source } = requireArchitecture(json, origin);
  const config =
    type === 'qwen2' ? readTextModel(source, origin) : readVisionLanguageModel(type, source, origin);
  const conflicts = configConflicts(config);
  if (conflicts.length > 0) throw badConfig(origin, type, conflicts);
  return config;
}

/** `parseAnyModelConfig` for a model that sees pictures; CheckpointError for a language model alone. */
export function parseModelConfig(json: unknown, origin = 'config.json'): ModelConfig {
  const config = parseAnyModelConfig(json, origin);
  if (config.vision === null) throw noVisionTower(config, origin);
  return config;
}

/** One sentence for a language model where pictures will be shown. */
export const noVisionTower = ({ type }: TextModelConfig, origin: string): CheckpointError =>
  new CheckpointError(
    `${origin} holds a language model ("${type}") without a vision tower: a model that sees pictures was expected`,
    { hint: 'give a folder of Qwen2.5-VL or Qwen2-VL, or of a model trained from one' },
  );

function readVisionLanguageModel(type: ModelConfig['type'], source: JsonObject, origin: string): ModelConfig {
  const nested = isObject(source.text_config) ? source.text_config : undefined;
  const reader = new ConfigReader();
  const top = reader.check(visionTopSchema, withTextKeys(source, nested), '');
  const visionSchema = type === 'qwen2_5_vl' ? windowedVisionSchema : plainVisionSchema;
  const vision = reader.check(visionSchema, source.vision_config, 'vision_config');
  const text = reader.check(textSchema, nested ?? source, nested === undefined ? '' : 'text_config');
  if (top === undefined || vision === undefined || text === undefined)
    throw badConfig(origin, type, reader.problems);
  const rope = text.rope_scaling ?? text.rope_parameters;
  return {
    type,
    vision,
    text: textConfig(type, text, top.tie_word_embeddings, rope?.mrope_section ?? [16, 24, 24]),
    tokens: {
      ...endTokens(top),
      imagePad: top.image_token_id,
      videoPad: top.video_token_id,
      visionStart: top.vision_start_token_id,
      visionEnd: top.vision_end_token_id ?? top.vision_start_token_id + 1,
    },
    source,
  };
}

function readTextModel(source: JsonObject, origin: string): TextModelConfig {
  const reader = new ConfigReader();
  const top = reader.check(textTopSchema, source, '');
  const text = reader.check(textSchema, source, '');
  if (top === undefined || text === undefined) throw badConfig(origin, 'qwen2', reader.problems);
  const headSize = text.head_dim ?? text.hidden_size / text.num_attention_heads;
  return {
    type: 'qwen2',
    vision: null,
    // Ordinary rotary positions are multimodal ones whose frequencies all turn with one axis.
    text: textConfig('qwen2', text, top.tie_word_embeddings, [headSize / 2, 0, 0]),
    tokens: endTokens(top),
    source,
  };
}

function textConfig(
  type: ModelType,
  text: z.infer<typeof textSchema>,
  tieWordEmbeddings: boolean,
  mropeSection: TextConfig['mropeSection'],
): TextConfig {
  const rope = text.rope_scaling ?? text.rope_parameters;
  const defaults = TEXT_DEFAULTS[type];
  return {
    hiddenSize: text.hidden_size,
    layers: text.num_hidden_layers,
    heads: text.num_attention_heads,
    keyValueHeads: text.num_key_value_heads ?? text.num_attention_heads,
    headSize: text.head_dim ?? text.hidden_size / text.num_attention_heads,
    intermediateSize: text.intermediate_size,
    vocabularySize: text.vocab_size,
    rmsNormEpsilon: text.rms_norm_eps ?? defaults.rmsNormEpsilon,
    ropeTheta: text.rope_theta ?? rope?.rope_theta ?? defaults.ropeTheta,
    mropeSection,
    tieWordEmbeddings,
    maxPositions: text.max_position_embeddings,
  };
}

const endTokens = (top: z.infer<typeof textTopSchema>): TextTokenIds => ({
  bos: top.bos_token_id ?? undefined,
  eos: [top.eos_token_id ?? []].flat(),
  pad: top.pad_token_id ?? undefined,
});

type JsonObject = Record<string, unknown>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** CheckpointError, in one sentence, for what is of no family that is read: its keys would all be wrong. */
function requireArchitecture(json: unknown, origin: string): { type: ModelType; source: JsonObject } {
  const source = isObject(json) ? json : {};
  const { model_type: type } = source;
  if (typeof type !== 'string' || !Object.hasOwn(MODEL_FAMILIES, type)) {
    const got = typeof type === 'string' ? `describes a model of type "${type}"` : 'names no model_type';
    const families = Object.entries(MODEL_FAMILIES).map(([name, family]) => `${family} ("${name}")`);
    throw new CheckpointError(`${origin} ${got}, readable are ${families.join('; ')}`, {
      hint: 'give a folder of one of these, or of a model trained from one',
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
  return { type: type as ModelType, source };
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

export async function readAnyModelConfig(path: string): Promise<AnyModelConfig> {
  return parseAnyModelConfig(await readJsonFile(path), path);
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

const badConfig = (origin: string, type: ModelType, problems: string[]): CheckpointError =>
  new CheckpointError(
    `${origin} is not a usable configuration of ${MODEL_FAMILIES[type]}:\n${problems.map((p) => `  ${p}`).join('\n')}`,
    type === 'qwen2' ? {} : { hint: 'compare it with models/qwen2.5-vl-mini/config.json' },
  );
