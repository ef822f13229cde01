import { join, resolve } from 'node:path';
import { asStorageError, writeFileAtomic } from '../core/index.ts';
import { readTrainingImages, type TrainingImages } from '../formats/index.ts';
import {
  type AnyModel,
  type AnyModelFormat,
  type ModelFormat,
  readModelFolder,
  type SaveOptions,
  saveModel as saveBase,
  type VisionLanguageModel,
} from './checkpoint.ts';
import { baseFingerprint } from './checkpoint-fingerprint.ts';
import { loadWeights } from './checkpoint-load.ts';
import { withWeights } from './checkpoint-weights.ts';
import { type ModelConfig, noVisionTower, readJsonFile, readModelConfig } from './config.ts';
import { type ImageProcessorConfig, parseProcessorConfig } from './image-processor.ts';
import {
  baseFolderOf,
  isAdapterFolder,
  loadAdapter,
  requireAdapterFits,
  saveAdapter,
} from './lora/peft-files.ts';
import { type Parameters, styleFor } from './parameters.ts';

const PROCESSOR_FILE = 'preprocessor_config.json';

/** The folder that holds the weights under a model's adapter. */
export const baseOf = ({ base, folder }: Pick<ModelFormat, 'base' | 'folder'>): string => base ?? folder;

/**
 * Everything but the weights of a Hugging Face folder of any family, or of an adapter's folder (PEFT) and its base.
 *
 * @param movedBase where an adapter's base lies, if it has been moved since adapter_config.json was written
 */
export async function loadAnyModelFormat(folder: string, movedBase?: string): Promise<AnyModelFormat> {
  if (!(await isAdapterFolder(folder))) return readModelFolder(folder);
  const base = movedBase ?? (await baseFolderOf(folder));
  const format = { ...(await readModelFolder(base)), folder, base };
  if (format.processor === null) return format;
  const own = await ownProcessor(folder);
  return own === undefined
    ? format
    : { ...format, processor: parseProcessorConfig(own, join(folder, PROCESSOR_FILE)) };
}

/** `loadAnyModelFormat` for a model that sees pictures; CheckpointError for a language model alone. */
export async function loadModelFormat(folder: string, movedBase?: string): Promise<ModelFormat> {
  const format = await loadAnyModelFormat(folder, movedBase);
  if (format.processor === null) throw noVisionTower(format.config, folder);
  return format;
}

/** A stage may look at pictures in another way than the base (`views`): that is kept with the adapter. */
const ownProcessor = (folder: string): Promise<unknown> => jsonIfPresent(join(folder, PROCESSOR_FILE));

async function jsonIfPresent(path: string): Promise<unknown> {
  try {
    return await readJsonFile(path);
  } catch (error) {
    if (((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return undefined;
    throw asStorageError(error, `reading ${path}`);
  }
}

/**
 * Sizes of a model and of the pictures it sees, of a folder that may hold neither weights nor tokenizer, or of an
 * adapter's.
 */
export async function readModelShape(
  folder: string,
): Promise<{ config: ModelConfig; processor: ImageProcessorConfig }> {
  const adapted = await isAdapterFolder(folder);
  const base = adapted ? await baseFolderOf(folder) : folder;
  const config = await readModelConfig(join(base, 'config.json'));
  const own = adapted ? await ownProcessor(folder) : undefined;
  if (own !== undefined)
    return { config, processor: parseProcessorConfig(own, join(folder, PROCESSOR_FILE)) };
  const nested = await jsonIfPresent(join(base, 'processor_config.json'));
  const inside = (nested as { image_processor?: unknown } | null | undefined)?.image_processor;
  const json = inside ?? (await readJsonFile(join(base, PROCESSOR_FILE)));
  return { config, processor: parseProcessorConfig(json, base) };
}

/**
 * The images that a model has seen: those that its folder lists. An adapter without a list of its own (PEFT writes
 * none) has seen at least those of its base. Null where nothing is recorded.
 */
export async function readSeenImages(folder: string): Promise<TrainingImages | null> {
  const own = await readTrainingImages(folder);
  if (own !== null || !(await isAdapterFolder(folder))) return own;
  const under = await readTrainingImages(await baseFolderOf(folder));
  return under === null ? null : { ...under, complete: false };
}

/**
 * CheckpointError unless a folder is a usable model that sees pictures, or an adapter that fits one. Weights are not
 * read, but for what tells an adapter's base from others.
 */
export async function requireModelFolder(folder: string): Promise<void> {
  const format = await loadModelFormat(folder);
  await withWeights(baseOf(format), format.config, async () => undefined);
  if (format.base !== undefined)
    await requireAdapterFits(folder, format.config, await baseFingerprint(format.base));
}

/**
 * Loads a Hugging Face folder of any family, or an adapter's folder: its base, and the adapter beside the weights.
 * F32, F16 or BF16 weights in one file or in shards; tensor by tensor, so that it takes the memory of the weights as
 * 32-bit floats and a few megabytes. CheckpointError for what is no model, and for an adapter of another base.
 */
export async function loadAnyModel(folder: string): Promise<AnyModel> {
  return withParameters(await loadAnyModelFormat(folder));
}

/** `loadAnyModel` for a model that sees pictures; CheckpointError for a language model alone, before weights are read. */
export async function loadModel(folder: string): Promise<VisionLanguageModel> {
  return withParameters(await loadModelFormat(folder));
}

async function withParameters<Format extends AnyModelFormat>(
  format: Format,
): Promise<Format & { parameters: Parameters }> {
  const { folder, base, config } = format;
  if (base === undefined) return { ...format, parameters: await loadWeights(folder, config) };
  // The adapter first: it is small, and says at once whether it belongs to this base.
  const adapter = await loadAdapter(folder, config, await baseFingerprint(base));
  const parameters = await loadWeights(base, config);
  parameters.adapter = adapter;
  return { ...format, parameters };
}

/** Writes a Hugging Face folder or, of an adapted model, the adapter alone as PEFT reads it. */
export async function saveModel(model: AnyModel, folder: string, options: SaveOptions = {}): Promise<void> {
  const { adapter } = model.parameters;
  if (adapter === undefined) return saveBase(model, folder, options);
  const base = baseOf(model);
  if (model.processor !== null) {
    await writeFileAtomic(
      join(folder, PROCESSOR_FILE),
      `${JSON.stringify(model.processor.source, null, 2)}\n`,
    );
  }
  await saveAdapter(adapter, folder, {
    base: resolve(base),
    fingerprint: await baseFingerprint(base),
    names: styleFor(model.config, 'new'),
    ...(options.dtype === undefined ? {} : { dtype: options.dtype }),
    metadata: options.metadata ?? {},
  });
}
