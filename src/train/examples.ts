import { InputError, type Progress, type RgbImage } from '../core/index.ts';
import { type ImageRecord, loadDataset, loadPixels, type Split } from '../data/index.ts';
import type { Examples } from './pictures.ts';

export type { Examples } from './pictures.ts';

export interface ExamplesOptions {
  /** At most so many images, the first ones. */
  limit?: number;
  /** Checks or shrinks each picture as it is decoded; see `fitToProcessor`. */
  prepare: (image: RgbImage) => RgbImage;
}

/** Loads the images of a split into memory. A picture that cannot be used is an InputError with its file's name. */
export async function loadExamples(
  folder: string,
  split: Split,
  progress: Progress,
  { limit = Number.POSITIVE_INFINITY, prepare }: ExamplesOptions,
): Promise<Examples> {
  const dataset = await loadDataset(folder);
  const records: ImageRecord[] = dataset.records.filter((record) => record.split === split).slice(0, limit);
  if (records.length === 0) {
    throw new InputError(`${folder} has no image in the split ${split}`, {
      hint: 'generate or import a data set with that split',
    });
  }
  progress.note(`${records.length} images of ${folder} (${split})`);
  return { records, images: await loadPixels(records, folder, { prepare }) };
}
