import { join } from 'node:path';
import { CheckpointError, listNames } from '../core/index.ts';
import { type FloatType, SafetensorsFile, type TensorData } from '../formats/index.ts';
import { findWeights, WEIGHTS_INDEX } from './checkpoint-files.ts';
import type { AnyModelConfig } from './config.ts';
import { canonicalName, checkParameters, EMBEDDING_NAME, HEAD_NAME, parameterShapes } from './parameters.ts';

/** A tensor of an open checkpoint. */
interface StoredTensor {
  file: SafetensorsFile;
  /** Its name in the file. */
  name: string;
  shape: readonly number[];
  dtype: FloatType;
  /** Bytes in the file. */
  bytes: number;
}

/**
 * The weights of a model folder, opened and checked but not read: names and shapes are those of the configuration,
 * the shards those of the index. Tensors go by their released names, whatever the files call them. Close it after use.
 */
export class StoredWeights {
  readonly folder: string;
  /** All parameters of the configuration, in the order of `parameterShapes`. */
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  /** A second copy of a tied head, where the files hold one; it is not a parameter of its own. */
  readonly tiedHead: StoredTensor | undefined;
  readonly files: readonly SafetensorsFile[];

  private constructor(
    folder: string,
    files: readonly SafetensorsFile[],
    tensors: ReadonlyMap<string, StoredTensor>,
    tiedHead: StoredTensor | undefined,
  ) {
    this.folder = folder;
    this.files = files;
    this.tensors = tensors;
    this.tiedHead = tiedHead;
  }

  /** CheckpointError, with all that does not fit, unless the folder holds exactly the tensors of the configuration. */
  static async open(folder: string, config: AnyModelConfig): Promise<StoredWeights> {
    const { names, index } = await findWeights(folder);
    const files: SafetensorsFile[] = [];
    try {
      for (const name of names) files.push(await SafetensorsFile.open(join(folder, name)));
      if (index !== null) checkIndex(folder, names, files, index);
      const found = locate(folder, files);
      const head = found.get(HEAD_NAME);
      const tiedHead = config.text.tieWordEmbeddings ? head : undefined;
      if (tiedHead !== undefined) {
        found.delete(HEAD_NAME);
        requireHeadShape(folder, tiedHead, found.get(EMBEDDING_NAME));
      }
      checkParameters(config, found, folder);
      const ordered = [...parameterShapes(config).keys()].map((name) => [name, found.get(name)!] as const);
      return new StoredWeights(folder, files, new Map(ordered), tiedHead);
    } catch (error) {
      for (const file of files) await file.close();
      throw error;
    }
  }

  /** Metadata strings of the files; where two say different things, the first file's. */
  get metadata(): Readonly<Record<string, string>> {
    return Object.assign({}, ...this.files.map(({ metadata }) => metadata).reverse());
  }

  /** All values of one parameter. */
  async read(name: string): Promise<TensorData> {
    const { file, name: stored, shape } = this.#tensor(name);
    return { shape, data: (await file.read(stored)).data };
  }

  /** Fills `target` with values of one parameter, from the value at `start` on. */
  async readInto(name: string, target: Float32Array, start = 0): Promise<void> {
    const { file, name: stored } = this.#tensor(name);
    await file.readInto(stored, target, start);
  }

  async close(): Promise<void> {
    for (const file of this.files) await file.close();
  }

  #tensor(name: string): StoredTensor {
    const tensor = this.tensors.get(name);
    if (tensor === undefined) throw new RangeError(`${this.folder} has no parameter "${name}"`);
    return tensor;
  }
}

/** Opens the weights for the time of one piece of work. */
export async function withWeights<T>(
  folder: string,
  config: AnyModelConfig,
  work: (weights: StoredWeights) => Promise<T>,
): Promise<T> {
  const weights = await StoredWeights.open(folder, config);
  try {
    return await work(weights);
  } finally {
    await weights.close();
  }
}

/** All tensors by canonical name. */
function locate(folder: string, files: readonly SafetensorsFile[]): Map<string, StoredTensor> {
  const found = new Map<string, StoredTensor>();
  const twice: string[] = [];
  for (const file of files) {
    for (const [name, { shape, dtype, begin, end }] of file.tensors) {
      const canonical = canonicalName(name);
      const other = found.get(canonical);
      if (other === undefined) {
        found.set(canonical, { file, name, shape, dtype, bytes: end - begin });
      } else {
        twice.push(other.name === name ? name : `${other.name} (also as ${name})`);
      }
    }
  }
  if (twice.length > 0) {
    throw new CheckpointError(`${folder} holds ${twice.length} tensor(s) twice: ${listNames(twice)}`, {
      hint: 'keep the files of one model alone',
    });
  }
  return found;
}

/** The index and the shards must say the same. */
function checkIndex(
  folder: string,
  names: readonly string[],
  files: readonly SafetensorsFile[],
  index: ReadonlyMap<string, string>,
): void {
  const place = new Map<string, string[]>();
  for (const [i, file] of files.entries()) {
    for (const tensor of file.tensors.keys()) place.set(tensor, [...(place.get(tensor) ?? []), names[i]!]);
  }
  const problems: string[] = [];
  for (const [tensor, file] of index) {
    const held = place.get(tensor);
    if (held === undefined) problems.push(`${tensor} is in no shard, the index says ${file}`);
    else if (held.join() !== file)
      problems.push(`${tensor} is in ${held.join(' and ')}, the index says ${file}`);
  }
  for (const [tensor, held] of place) {
    if (!index.has(tensor)) problems.push(`${tensor} is in ${held.join(' and ')}, not in the index`);
  }
  if (problems.length === 0) return;
  const shown = problems.slice(0, 5).map((problem) => `  ${problem}`);
  if (problems.length > shown.length) shown.push(`  and ${problems.length - shown.length} more`);
  throw new CheckpointError(`${join(folder, WEIGHTS_INDEX)} contradicts its shards:\n${shown.join('\n')}`, {
    hint: 'index and shards must come from the same model',
  });
}

function requireHeadShape(folder: string, head: StoredTensor, embedding: StoredTensor | undefined): void {
  if (embedding === undefined || embedding.shape.join() === head.shape.join()) return;
  throw new CheckpointError(
    `${folder} ties the head to the embedding [${embedding.shape.join(', ')}], but stores one of [${head.shape.join(', ')}]`,
    { hint: 'config.json and the weights must come from the same model' },
  );
}

/** Metadata strings of a folder's weights (of the first shard), for example the stage and the step that made them. */
export async function readModelMetadata(folder: string): Promise<Readonly<Record<string, string>>> {
  const { names } = await findWeights(folder);
  const file = await SafetensorsFile.open(join(folder, names[0]!));
  await file.close();
  return file.metadata;
}
