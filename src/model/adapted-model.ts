import { join, resolve } from 'node:path';
import { asStorageError, writeFileAtomic } from '../core/index.ts';
import {
  loadModel as loadBase,
  loadModelFormat as loadBaseFormat,
  type ModelFormat,
  requireModelFolder as requireBaseFolder,
  type SaveOptions,
  saveModel as saveBase,
  type VisionLanguageModel,
} from './checkpoint.ts';
import { baseFingerprint } from './checkpoint-fingerprint.ts';
import { readJsonFile } from './config.ts';
import { parseProcessorConfig } from './image-processor.ts';
import {
  baseFolderOf,
  isAdapterFolder,
  loadAdapter,
  requireAdapterFits,
  saveAdapter,
} from './lora/peft-files.ts';

const PROCESSOR_FILE = 'preprocessor_config.json';

/** The folder that holds the weights under a model's adapter. */
export const baseOf = ({ base, folder }: Pick<ModelFormat, 'base' | 'folder'>): string => base ?? folder;

/** Everything but the weights of a Hugging Face Qwen2.5-VL folder, or of an adapter's folder (PEFT) and its base. */
export async function loadModelFormat(folder: string): Promise<ModelFormat> {
  if (!(await isAdapterFolder(folder))) return loadBaseFormat(folder);
  const base = await baseFolderOf(folder);
  const format = { ...(await loadBaseFormat(base)), folder, base };
  const own = await ownProcessor(folder);
  return own === undefined
    ? format
    : { ...format, processor: parseProcessorConfig(own, join(folder, PROCESSOR_FILE)) };
}

/** A stage may look at pictures in another way than the base (`views`): that is kept with the adapter. */
async function ownProcessor(folder: string): Promise<unknown> {
  try {
    return await readJsonFile(join(folder, PROCESSOR_FILE));
  } catch (error) {
    if (((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return undefined;
    throw asStorageError(error, `reading ${folder}`);
  }
}

/** CheckpointError unless a folder is a usable model, or an adapter that fits its base. Weights are not read. */
export async function requireModelFolder(folder: string): Promise<void> {
  if (!(await isAdapterFolder(folder))) return requireBaseFolder(folder);
  const base = await baseFolderOf(folder);
  await requireBaseFolder(base);
  await requireAdapterFits(folder, (await loadBaseFormat(base)).config);
}

/**
 * Loads a Hugging Face Qwen2.5-VL folder, or an adapter's folder: its base, and the adapter beside the weights.
 * CheckpointError for what is neither, and for an adapter of another base.
 */
export async function loadModel(folder: string): Promise<VisionLanguageModel> {
  if (!(await isAdapterFolder(folder))) return loadBase(folder);
  const format = await loadModelFormat(folder);
  const base = baseOf(format);
  // The adapter first: it is small, and says at once whether it belongs to this base.
  const adapter = await loadAdapter(folder, format.config, await baseFingerprint(base));
  const { parameters } = await loadBase(base);
  parameters.adapter = adapter;
  return { ...format, parameters };
}

/** Writes a Hugging Face folder or, of an adapted model, the adapter alone as PEFT reads it. */
export async function saveModel(
  model: VisionLanguageModel,
  folder: string,
  options: SaveOptions = {},
): Promise<void> {
  const { adapter } = model.parameters;
  if (adapter === undefined) return saveBase(model, folder, options);
  const base = baseOf(model);
  await writeFileAtomic(join(folder, PROCESSOR_FILE), `${JSON.stringify(model.processor.source, null, 2)}\n`);
  await saveAdapter(adapter, folder, {
    base: resolve(base),
    fingerprint: await baseFingerprint(base),
    ...(options.dtype === undefined ? {} : { dtype: options.dtype }),
    metadata: options.metadata ?? {},
  });
}
