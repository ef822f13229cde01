import { InputError, type Progress } from '../core/index.ts';
import { type ImageRecord, loadDataset, loadPixels, type Split } from '../data/index.ts';
import type { Examples } from './pictures.ts';

export type { Examples } from './pictures.ts';

/** Loads the images of some splits into memory; at most `limit`, the first ones, where a limit is given. */
export async function loadExamples(
  folder: string,
  splits: readonly Split[],
  progress: Progress,
  limit: number = Number.POSITIVE_INFINITY,
): Promise<Examples> {
  const dataset = await loadDataset(folder);
  const records: ImageRecord[] = dataset.records
    .filter(({ split }) => splits.includes(split))
    .slice(0, limit);
  if (records.length === 0) {
    throw new InputError(`${folder} has no image in the split ${splits.join(' or ')}`, {
      hint: 'generate or import a data set with that split',
    });
  }
  progress.note(`${records.length} images of ${folder} (${splits.join(', ')})`);
  return { records, images: await loadPixels(records, folder) };
}
