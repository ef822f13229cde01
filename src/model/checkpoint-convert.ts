import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CheckpointError, ConfigError, type Progress, silentProgress } from '../core/index.ts';
import type { FloatType, TensorStream } from '../formats/index.ts';
import { readModelFolder } from './checkpoint.ts';
import { isWeightFile, otherWeights } from './checkpoint-files.ts';
import { countNotFinite, requireTiedHead } from './checkpoint-load.ts';
import { configFor, type FolderFile, saveWeights } from './checkpoint-save.ts';
import { type StoredWeights, withWeights } from './checkpoint-weights.ts';
import { type NameStyle, sizeOf, styleFor } from './parameters.ts';

export interface ConvertOptions {
  dtype: FloatType;
  /** Most bytes of weights in one file. */
  maxShardBytes: number;
  names: NameStyle;
  progress?: Progress;
  /** Stops the conversion, which leaves nothing behind. */
  signal?: AbortSignal;
}

/** Values in memory at a time. */
const PIECE_VALUES = 2 ** 20;

/**
 * Writes a model folder again, in another type, with other shards or other names; all else is copied byte for byte.
 * Takes a few megabytes whatever the model's size. ConfigError where the output folder holds anything,
 * CheckpointError for a model that cannot be loaded, or values that the type cannot hold.
 */
export async function convertModel(folder: string, output: string, options: ConvertOptions): Promise<void> {
  const { dtype, progress = silentProgress } = options;
  await requireEmpty(output);
  const { config } = await readModelFolder(folder);
  const files: FolderFile[] = [
    ['config.json', `${JSON.stringify(configFor(config, dtype), null, 2)}\n`],
    ...(await otherFiles(folder)),
  ];
  await withWeights(folder, config, async (weights) => {
    await requireTiedHead(weights);
    const total = [...weights.tensors.values()].reduce((sum, { shape }) => sum + sizeOf(shape), 0);
    progress.start('parameters', total);
    let done = 0;
    const report = (values: number) => {
      done += values;
      progress.update(done);
    };
    const tensors = [...weights.tensors].map(
      ([name, { shape }]): TensorStream => ({
        name,
        shape,
        values: () => streamTensor(weights, name, options.signal, report),
      }),
    );
    try {
      const names = styleFor(config, options.names);
      await saveWeights(tensors, files, output, { ...options, names, metadata: weights.metadata });
    } finally {
      progress.stop();
    }
  });
}

async function* streamTensor(
  weights: StoredWeights,
  name: string,
  signal: AbortSignal | undefined,
  report: (values: number) => void,
): AsyncGenerator<Float32Array> {
  const size = sizeOf(weights.tensors.get(name)!.shape);
  const buffer = new Float32Array(Math.min(PIECE_VALUES, size));
  for (let at = 0; at < size; at += buffer.length) {
    signal?.throwIfAborted();
    const piece = buffer.subarray(0, Math.min(buffer.length, size - at));
    await weights.readInto(name, piece, at);
    if (countNotFinite(piece) > 0) {
      throw new CheckpointError(`${weights.folder} holds weights that are NaN or infinite, in ${name}`, {
        hint: 'the file is damaged or its training diverged: take another checkpoint',
      });
    }
    yield piece;
    report(piece.length);
  }
}

/** What lies beside the weights: tokenizer, template, lists, licence. Hidden files and folders stay behind. */
async function otherFiles(folder: string): Promise<FolderFile[]> {
  const files: FolderFile[] = [];
  for (const name of (await readdir(folder)).sort()) {
    if (name === 'config.json' || name.startsWith('.') || isWeightFile(name)) continue;
    if (otherWeights([name]) !== undefined) continue;
    const path = join(folder, name);
    if ((await stat(path)).isFile()) files.push([name, { copyOf: path }]);
  }
  return files;
}

/** ConfigError unless a folder to write to is empty or does not exist. */
export async function requireEmpty(output: string): Promise<void> {
  let names: string[];
  try {
    names = await readdir(output);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw new ConfigError(`${output} cannot be the output: it is no folder`, {
      hint: 'choose another name',
      cause: error,
    });
  }
  if (names.length > 0) {
    throw new ConfigError(`${output} holds ${names.length} file(s) already`, {
      hint: 'choose a folder that is empty or does not exist',
    });
  }
}
