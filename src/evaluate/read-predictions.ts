import { readdir, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { asStorageError, InputError, readAllJsonl } from '../core/index.ts';
import { byImageId, type Prediction, predictionSchema } from './predictions.ts';
import { type RunProvenance, readProvenance } from './read-predictions-provenance.ts';
import { PREDICTIONS_FILE } from './run-rows.ts';

/** Predictions of one model on one split, with what is known of how they were made. */
export interface Result {
  /** The file of predictions. */
  path: string;
  /** Which part of a run this is, for example "test-greedy"; "" where the run is one file. */
  part: string;
  predictions: Prediction[];
  run: RunProvenance | null;
  notices: string[];
}

/**
 * Reads what "q-ponder eval run" wrote: one predictions.jsonl, the folder that holds one, or a folder of such folders.
 * A row that is no prediction, and an image that occurs twice, is an InputError.
 */
export async function readResults(path: string): Promise<Result[]> {
  const results: Result[] = [];
  for (const [part, file] of await findPredictions(path)) {
    const predictions = await readAllJsonl(file, predictionSchema);
    if (predictions.length === 0) {
      throw new InputError(`${file} is empty`, { hint: 'the evaluation may have been stopped: repeat it' });
    }
    try {
      byImageId(predictions);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      throw new InputError(`${file}: ${error.message}`, {
        hint: 'keep one prediction per image in each file',
      });
    }
    const { run, notices } = await readProvenance(file, predictions.length);
    results.push({ path: file, part, predictions, run, notices });
  }
  return results;
}

async function findPredictions(path: string): Promise<[part: string, file: string][]> {
  try {
    if (!(await stat(path)).isDirectory()) return [['', path]];
    if (await isFile(join(path, PREDICTIONS_FILE))) return [['', join(path, PREDICTIONS_FILE)]];
    const found: [string, string][] = [];
    for (const name of (await readdir(path)).sort()) {
      const file = join(path, name, PREDICTIONS_FILE);
      if (await isFile(file)) found.push([name, file]);
    }
    if (found.length > 0) return found;
  } catch (error) {
    throw asStorageError(error, `reading ${path}`);
  }
  throw new InputError(`${path} holds no ${PREDICTIONS_FILE}, nor does any folder in it`, {
    hint: 'give a folder that "q-ponder eval run --out" wrote, or a file of predictions',
  });
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw error;
  }
}

/** Short names that tell results apart: the last part of each path, or all of it where those are equal. */
export function shortNames(paths: readonly string[]): string[] {
  const names = paths.map((path) => {
    const clean = path.replace(/[\\/]+$/, '');
    return basename(clean, extname(clean) === '.jsonl' ? '.jsonl' : '');
  });
  return new Set(names).size === names.length ? names : [...paths];
}
