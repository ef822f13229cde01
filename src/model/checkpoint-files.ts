import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { asStorageError, CheckpointError, listNames } from '../core/index.ts';
import { asMissing, readJsonFile } from './config.ts';

export const WEIGHTS_FILE = 'model.safetensors';
export const WEIGHTS_INDEX = 'model.safetensors.index.json';
const SHARD = /^model-(\d+)-of-(\d+)\.safetensors$/;

/** Name of one shard, as transformers writes it; `number` counts from 1. */
export const shardName = (number: number, of: number): string =>
  `model-${String(number).padStart(5, '0')}-of-${String(of).padStart(5, '0')}.safetensors`;

/** Whether a file of a model folder holds weights or says where they are. */
export const isWeightFile = (name: string): boolean =>
  name === WEIGHTS_FILE || name === WEIGHTS_INDEX || SHARD.test(name);

/** Which files hold the weights of a folder, and what its index says about them. */
export interface WeightFiles {
  names: string[];
  /** File of each tensor by stored name; null where the folder has no index. */
  index: ReadonlyMap<string, string> | null;
}

const indexSchema = z.looseObject({ weight_map: z.record(z.string(), z.string()) });

/**
 * Finds the weights of a model folder: by the index where there is one, else one file, else shards that are
 * complete. CheckpointError with everything that is missing or too much.
 */
export async function findWeights(folder: string): Promise<WeightFiles> {
  const names = await namesIn(folder);
  const shards = names.filter((name) => SHARD.test(name)).sort();
  if (names.includes(WEIGHTS_INDEX)) return indexedWeights(folder, names, shards);
  if (names.includes(WEIGHTS_FILE)) {
    if (shards.length > 0) {
      throw new CheckpointError(
        `${folder} holds ${WEIGHTS_FILE} and also shards: ${listNames(shards)}; one of the two must be removed`,
      );
    }
    return { names: [WEIGHTS_FILE], index: null };
  }
  if (shards.length > 0) return { names: completeShards(folder, shards), index: null };
  throw noWeights(folder, names);
}

async function indexedWeights(
  folder: string,
  names: readonly string[],
  shards: readonly string[],
): Promise<WeightFiles> {
  const path = join(folder, WEIGHTS_INDEX);
  const parsed = indexSchema.safeParse(await readJsonFile(path));
  if (!parsed.success) {
    throw new CheckpointError(`${path} is not an index of shards: it must hold "weight_map", tensor to file`);
  }
  const index = new Map(Object.entries(parsed.data.weight_map));
  const wanted = [...new Set(index.values())].sort();
  const outside = wanted.filter((name) => name.includes('/') || name.includes('\\') || name.startsWith('.'));
  const missing = wanted.filter((name) => !outside.includes(name) && !names.includes(name));
  const present = names.includes(WEIGHTS_FILE) ? [...shards, WEIGHTS_FILE] : shards;
  const stray = present.filter((name) => !wanted.includes(name));
  const problems = [
    ...(wanted.length === 0 ? ['  it names no file'] : []),
    ...(outside.length > 0 ? [`  files outside the folder: ${listNames(outside)}`] : []),
    ...(missing.length > 0 ? [`  files that are missing: ${listNames(missing)}`] : []),
    ...(stray.length > 0 ? [`  files that it does not name: ${listNames(stray)}`] : []),
  ];
  if (problems.length > 0) {
    throw new CheckpointError(`${path} does not fit its folder:\n${problems.join('\n')}`, {
      hint: 'download the missing shards, and remove those of another model',
    });
  }
  return { names: wanted, index };
}

/** Without an index, the names alone say how many shards there must be. */
function completeShards(folder: string, shards: string[]): string[] {
  const counts = [...new Set(shards.map((name) => Number(SHARD.exec(name)![2])))];
  if (counts.length > 1) {
    throw new CheckpointError(`${folder} holds shards of different models: ${listNames(shards)}`, {
      hint: `give ${WEIGHTS_INDEX}, or one set of shards alone`,
    });
  }
  const present = new Set(shards.map((name) => Number(SHARD.exec(name)![1])));
  const count = counts[0]!;
  const missing: number[] = [];
  for (let number = 1; number <= count && missing.length < 100; number++) {
    if (!present.has(number)) missing.push(number);
  }
  if (missing.length > 0) {
    throw new CheckpointError(
      `${folder} lacks shards: ${listNames(missing.map((number) => shardName(number, count)))}`,
      { hint: 'download the missing shards' },
    );
  }
  return shards;
}

const OTHER_FORMATS: readonly [RegExp, string][] = [
  [/\.gguf$/i, 'GGUF'],
  [/\.(bin|pt|pth|ckpt|pkl)$/i, 'PyTorch pickle'],
  [/\.onnx$/i, 'ONNX'],
  [/\.(h5|msgpack)$/i, 'TensorFlow or Flax'],
];

/** Weights in a format that is not read, for a message; undefined where there are none. */
export function otherWeights(names: readonly string[]): string | undefined {
  for (const [pattern, format] of OTHER_FORMATS) {
    const found = names.filter((name) => pattern.test(name));
    if (found.length > 0) return `${format} (${listNames(found, 2)})`;
  }
  return undefined;
}

function noWeights(folder: string, names: readonly string[]): CheckpointError {
  const other = otherWeights(names);
  if (other !== undefined) {
    return new CheckpointError(`${folder} holds weights as ${other}; readable are safetensors files alone`, {
      hint: 'save the model with transformers (save_pretrained), which writes safetensors',
    });
  }
  return new CheckpointError(`${folder} has no ${WEIGHTS_FILE} and no shards of it`, {
    hint: 'give a folder with weights; the presets in models/ without weights must be trained first',
  });
}

/** Names of the files of a model folder. CheckpointError where there is no such folder. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') {
      throw new CheckpointError(`${folder} is a file, a model folder was expected`, {
        hint: 'give the folder that holds config.json, tokenizer.json and model.safetensors',
        cause: error,
      });
    }
    throw asMissing(error, folder) ?? asStorageError(error, `reading model folder ${folder}`);
  }
}
