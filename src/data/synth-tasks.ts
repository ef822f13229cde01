import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asStorageError } from '../core/index.ts';
import { encodePng } from './decode.ts';
import type { GeneratedImage } from './generate.ts';
import type { ImageRecord, Split } from './records.ts';
import type { SynthesisConfig } from './synth-config.ts';

/** What makes images: a generator of scenes, or photographs to distort. */
export interface ImageSource {
  /** Scenes (or photographs) of a split. */
  scenesOf(split: Split): number;
  imagesOf(split: Split): number;
  /** The images of one scene, in order. */
  images(split: Split, scene: number): AsyncIterable<GeneratedImage>;
}

/** Scenes [from, to) of a split: the unit of work given to a process. */
export interface SynthesisTask {
  split: Split;
  from: number;
  to: number;
}

export type ToWorker =
  | { kind: 'open'; config: SynthesisConfig; folder: string }
  | { kind: 'task'; number: number; task: SynthesisTask };

export type FromWorker =
  | { kind: 'ready' }
  | { kind: 'done'; number: number; records: ImageRecord[] }
  | { kind: 'failed'; code: string | null; message: string; hint: string | null };

/** Makes the images of a task, writes them under `folder` and returns their records in order. */
export async function carryOut(
  source: ImageSource,
  task: SynthesisTask,
  folder: string,
  signal?: AbortSignal,
): Promise<ImageRecord[]> {
  const records: ImageRecord[] = [];
  const isStopped = () => signal?.aborted === true;
  for (let scene = task.from; scene < task.to && !isStopped(); scene++) {
    for await (const { image, record } of source.images(task.split, scene)) {
      const path = join(folder, record.image);
      try {
        await writeFile(path, await encodePng(image));
      } catch (error) {
        throw asStorageError(error, `writing ${path}`);
      }
      records.push(record);
      if (isStopped()) break;
    }
  }
  return records;
}
