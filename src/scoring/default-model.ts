import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../core/index.ts';

/** Where the demo leaves the trained model, relative to the working folder. */
export const DEMO_FOLDER = '.q-ponder/demo';
export const DEMO_MODEL = join(DEMO_FOLDER, 'q-ponder', 'model');

/** The model that the demo trained here; a ConfigError that says how to get one otherwise. */
export async function defaultModel(): Promise<string> {
  try {
    await access(join(DEMO_MODEL, 'model.safetensors'));
  } catch (error) {
    throw new ConfigError(`no model was given and ${DEMO_MODEL} does not exist`, {
      hint: 'train one with "q-ponder demo", or name the checkpoint folder (--model, createScorer({ model }))',
      cause: error,
    });
  }
  return DEMO_MODEL;
}
