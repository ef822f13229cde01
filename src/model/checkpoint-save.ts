import { createReadStream } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { asStorageError, syncFolder, writeFolderAtomic } from '../core/index.ts';
import { type FloatType, safetensorsBytes, streamFile, type TensorStream } from '../formats/index.ts';
import type { AnyModel, AnyModelFormat } from './checkpoint.ts';
import { isWeightFile, WEIGHTS_INDEX } from './checkpoint-files.ts';
import { DEFAULT_SHARD_BYTES, planShards, shardIndex } from './checkpoint-shards.ts';
import type { AnyModelConfig } from './config.ts';
import { type NameStyle, storedName, styleFor } from './parameters.ts';

export interface SaveOptions {
  /** How weights are stored, default BF16. Rounded to nearest; a value beyond the type is a CheckpointError. */
  dtype?: FloatType;
  /** Most bytes of weights in one file, default 5 GB; more become shards with an index. */
  maxShardBytes?: number;
  /** Names of the tensors: as in the released checkpoints (default, read by everything) or as newer transformers'. */
  names?: NameStyle;
  /** Strings for the header of the weights, for example the stage and the step that made them. */
  metadata?: Readonly<Record<string, string>>;
}

/** A file beside the weights: its name, and what is in it or the path of the file that it is a copy of. */
export type FolderFile = readonly [name: string, content: string | { copyOf: string }];

/**
 * Writes a Hugging Face folder that transformers opens. Everything is first written aside, then put in place, the
 * weights last: whatever goes wrong, a folder with weights is whole, and an older model stays until the new one is
 * complete. Other files of an existing folder are left alone.
 */
export async function saveModel(model: AnyModel, folder: string, options: SaveOptions = {}): Promise<void> {
  const tensors = [...model.parameters].map(
    ([name, variable]): TensorStream => ({
      name,
      shape: variable.shape,
      async *values() {
        yield (await variable.data()) as Float32Array;
      },
    }),
  );
  const names = styleFor(model.config, options.names);
  await saveWeights(tensors, formatFiles(model, options.dtype ?? 'BF16'), folder, { ...options, names });
}

/** The small files of a model folder, for weights of the given type. */
export function formatFiles(format: AnyModelFormat, dtype: FloatType): FolderFile[] {
  const { processor } = format;
  const files: [string, unknown][] = [
    ['config.json', configFor(format.config, dtype)],
    ['tokenizer.json', format.files.tokenizer],
    ['tokenizer_config.json', format.files.tokenizerConfig],
    // The processor of transformers looks for the template here, tokenizers in their own file.
    ['chat_template.json', processor === null ? undefined : { chat_template: format.chatTemplate.text }],
    ['preprocessor_config.json', processor?.source],
    ['generation_config.json', format.files.generationConfig],
  ];
  return files
    .filter(([, content]) => content !== undefined)
    .map(([name, content]) => [name, `${JSON.stringify(content, null, 2)}\n`]);
}

const TORCH_TYPES: Record<FloatType, string> = { F32: 'float32', F16: 'float16', BF16: 'bfloat16' };

/** The config.json as it was read, with the type of the weights, under whichever name it stood there. */
export function configFor({ source }: AnyModelConfig, dtype: FloatType): Record<string, unknown> {
  const type = TORCH_TYPES[dtype];
  const changed: Record<string, unknown> = { ...source };
  if (!('dtype' in source)) changed.torch_dtype = type;
  for (const [key, value] of Object.entries(changed)) {
    if (key === 'dtype' || key === 'torch_dtype') changed[key] = type;
    else if (key === 'text_config' || key === 'vision_config') changed[key] = withType(value, type);
  }
  return changed;
}

function withType(config: unknown, type: string): unknown {
  if (typeof config !== 'object' || config === null) return config;
  const changed: Record<string, unknown> = { ...config };
  for (const key of ['dtype', 'torch_dtype']) if (key in changed) changed[key] = type;
  return changed;
}

/**
 * Writes tensors, named as released, and small files as a model folder; see `saveModel` for what is promised. The
 * tensors are asked for their values one after the other, so that their memory is the caller's choice.
 */
export async function saveWeights(
  tensors: readonly TensorStream[],
  files: readonly FolderFile[],
  folder: string,
  options: SaveOptions = {},
): Promise<void> {
  const fill = (target: string) => fillFolder(tensors, files, target, options);
  if (!(await isFolder(folder))) {
    await writeFolderAtomic(folder, fill);
    return;
  }
  const staging = join(folder, '.saving');
  try {
    await writeFolderAtomic(staging, fill);
    await putInPlace(staging, folder);
  } catch (error) {
    throw asStorageError(error, `writing model folder ${folder}`);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function fillFolder(
  tensors: readonly TensorStream[],
  files: readonly FolderFile[],
  folder: string,
  options: SaveOptions,
): Promise<void> {
  const { dtype = 'BF16', maxShardBytes = DEFAULT_SHARD_BYTES, names = 'released' } = options;
  for (const [name, content] of files) {
    const pieces = typeof content === 'string' ? [Buffer.from(content)] : createReadStream(content.copyOf);
    await streamFile(join(folder, name), pieces);
  }
  const stored = tensors.map((tensor) => ({ ...tensor, name: storedName(tensor.name, names) }));
  const shards = planShards(stored, dtype, maxShardBytes);
  const metadata = { format: 'pt', ...options.metadata };
  for (const shard of shards) {
    await streamFile(join(folder, shard.file), safetensorsBytes(shard.tensors, { dtype, metadata }));
  }
  if (shards.length > 1) {
    await streamFile(join(folder, WEIGHTS_INDEX), [Buffer.from(shardIndex(shards, dtype))]);
  }
}

/** Files that would be read instead of, or beside, those that a save writes. */
const OUTDATED = new Set(['chat_template.jinja', 'processor_config.json', 'video_preprocessor_config.json']);

/** Moves a complete model into a folder: the old weights go first, the new ones come last, their index at the end. */
async function putInPlace(staging: string, folder: string): Promise<void> {
  const order = (name: string) => (name === WEIGHTS_INDEX ? 2 : isWeightFile(name) ? 1 : 0);
  const fresh = (await readdir(staging)).sort((a, b) => order(a) - order(b));
  const old = (await readdir(folder)).filter(
    (name) => isWeightFile(name) || (OUTDATED.has(name) && !fresh.includes(name)),
  );
  for (const name of old.sort((a, b) => order(b) - order(a))) await rm(join(folder, name));
  for (const name of fresh) await rename(join(staging, name), join(folder, name));
  await syncFolder(folder);
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw asStorageError(error, `writing model folder ${path}`);
  }
}
