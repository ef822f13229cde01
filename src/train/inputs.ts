import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { asStorageError, sha256OfFile } from '../core/index.ts';
import { RECORDS_FILE, type RenderedPrompt } from '../data/index.ts';
import { type RewardTermsConfig, rewardFiles } from '../env/index.ts';
import type { TrainingImages } from '../formats/index.ts';
import { baseFolderOf, isAdapterFolder, readPeftConfig } from '../model/index.ts';

export interface StageInputs {
  /** Folder of the starting model. */
  model: string;
  /** Whether the stage starts from the folder's weights, or only from its shape and tokenizer. */
  weights: boolean;
  dataset: string;
  rows?: string | null;
  prompt: RenderedPrompt;
  /** The images of this stage and those before it. */
  seen: TrainingImages;
}

/** What decides, besides weights, what a model folder's model is. Other files may come and go. */
const MODEL_SETTINGS: readonly string[] = [
  'config.json',
  'generation_config.json',
  'preprocessor_config.json',
  'processor_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'chat_template.json',
  'chat_template.jinja',
];

/** Of shards, the index says which of them hold the model. */
const WEIGHTS = /\.safetensors(\.index\.json)?$/;

/**
 * SHA-256 of what a stage starts from, by a name that does not depend on where it lies: the model's files, the
 * data set's records and images, the teacher's rows and the prompt. A run is not continued when one has changed, and is
 * when they have only been moved.
 */
export async function hashInputs(inputs: StageInputs): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {};
  await hashModel(inputs.model, 'model', inputs.weights, hashes);
  hashes[RECORDS_FILE] = await sha256OfFile(join(inputs.dataset, RECORDS_FILE));
  if (inputs.rows !== undefined && inputs.rows !== null) hashes.rows = await sha256OfFile(inputs.rows);
  // Of the images alone: a change of the records is told under their own name.
  const images = JSON.stringify(inputs.seen.stages.map((stage) => stage.images));
  hashes.images = sha256Of(images);
  hashes.prompt = inputs.prompt.hash;
  return hashes;
}

/** SHA-256 of the files that reward terms depend on, by the place of the file in the list of terms. */
export async function hashRewardFiles(rewards: RewardTermsConfig): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {};
  for (const [i, path] of rewardFiles(rewards).entries()) {
    hashes[`rewards/${i}/${basename(path)}`] = await sha256OfFile(path);
  }
  return hashes;
}

/** The files of a model's folder; of an adapter's, and those of its base. */
async function hashModel(
  folder: string,
  as: string,
  weights: boolean,
  hashes: Record<string, string>,
): Promise<void> {
  let names: string[];
  try {
    names = (await readdir(folder)).sort();
  } catch (error) {
    throw asStorageError(error, `reading ${folder}`);
  }
  for (const name of names) {
    if (MODEL_SETTINGS.includes(name) || (weights && WEIGHTS.test(name))) {
      hashes[`${as}/${name}`] = await sha256OfFile(join(folder, name));
    }
  }
  if (await isAdapterFolder(folder)) {
    // Not the file: where it says the base lies is no part of what the adapter is.
    const { base: _, ...settings } = await readPeftConfig(folder);
    hashes[`${as}/adapter_config.json`] = sha256Of(JSON.stringify(settings));
    await hashModel(await baseFolderOf(folder), 'base', weights, hashes);
  }
}

const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');
