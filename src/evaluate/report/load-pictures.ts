import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { asStorageError } from '../../core/index.ts';
import { imagePath, loadDataset } from '../../data/index.ts';
import type { Prediction } from '../predictions.ts';
import type { ReportData } from './report-data.ts';

/** Predictions, the folder they were found in and the data set that their run recorded. */
export interface PicturedRows {
  folder: string;
  rows: readonly Prediction[];
  run: { dataset: string | null } | null;
}

/** Pictures from the folder given, else from the data set that the run recorded or that lies near its results. */
export async function predictionPictures(
  loaded: readonly PicturedRows[],
  images: string | undefined,
): Promise<ReportData['picture']> {
  const folderOf = new WeakMap<Prediction, string>();
  for (const { folder, run, rows } of loaded) {
    const recorded = run?.dataset ?? undefined;
    const near = images ?? recorded ?? (await dataFolder(folder));
    if (near !== undefined) for (const row of rows) folderOf.set(row, near);
  }
  return async (prediction) => {
    const folder = folderOf.get(prediction);
    return readIfThere(folder === undefined ? prediction.image : imagePath(folder, prediction));
  };
}

/** The data set that a demo keeps beside its results. */
async function dataFolder(folder: string): Promise<string | undefined> {
  for (const near of [folder, join(folder, 'data'), join(dirname(folder), 'data')]) {
    if ((await readIfThere(join(near, 'records.jsonl'))) !== undefined) return near;
  }
  return undefined;
}

/** A file's bytes, or undefined where there is none: the page then says that the picture is missing. */
async function readIfThere(path: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return undefined;
    throw asStorageError(error, `reading ${path}`);
  }
}

/** Pictures of training images by id, from the data sets that the runs were trained on, where these still exist. */
export async function rolloutPictures(
  folders: readonly string[],
): Promise<(image: string) => Promise<Uint8Array | undefined>> {
  const paths = new Map<string, string>();
  for (const folder of folders) {
    if ((await readIfThere(join(folder, 'records.jsonl'))) === undefined) continue;
    const { records, images } = await loadDataset(folder);
    for (const [i, { id }] of records.entries()) paths.set(id, images[i]!);
  }
  return async (image) => {
    const path = paths.get(image) ?? (isAbsolute(image) ? image : undefined);
    return path === undefined ? undefined : readIfThere(path);
  };
}
