import { join } from 'node:path';
import { sha256OfFile } from '../core/index.ts';
import { type ImageRecord, imagePath, inParallel, RECORDS_FILE } from '../data/index.ts';
import { imageKey, type StageImages, type TrainingImages } from '../formats/index.ts';
import { readSeenImages } from '../model/index.ts';

export interface StageImagesInput {
  stage: string;
  /** Model folder that the stage starts from; null for new weights, which have seen nothing. */
  start: string | null;
  dataset: string;
  /** Images learnt from, and images that choose the checkpoint. */
  train: readonly ImageRecord[];
  validation: readonly ImageRecord[];
}

/**
 * The images that the model of a stage will have seen, its own after those of the model it starts from, so that an
 * evaluation can refuse a test image that is among them.
 */
export async function trainingImagesOf(input: StageImagesInput): Promise<TrainingImages> {
  const { stage, start, dataset } = input;
  const before: TrainingImages =
    start === null
      ? { format: 1, complete: true, stages: [] }
      : ((await readSeenImages(start)) ?? { format: 1, complete: false, stages: [] });
  const recordsSha256 = await sha256OfFile(join(dataset, RECORDS_FILE));
  const own: StageImages[] = [];
  for (const use of ['train', 'validation'] as const) {
    const records = input[use];
    const keys: string[] = new Array(records.length);
    await inParallel(records.length, 8, async (i) => {
      keys[i] = imageKey(await sha256OfFile(imagePath(dataset, records[i]!)));
    });
    const images = [...new Set(keys)].sort();
    own.push({ stage, dataset: records[0]?.dataset ?? dataset, use, recordsSha256, images });
  }
  return { ...before, stages: [...before.stages, ...own] };
}
