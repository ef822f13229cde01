import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import {
  ConfigError,
  InterruptedError,
  type Progress,
  silentProgress,
  writeFolderAtomic,
  writeJsonl,
} from '../core/index.ts';
import { contactSheet } from './contact-sheet.ts';
import { DISTORTION_SETS } from './distortion-types.ts';
import { GENERATOR_VERSION, type GeneratedImage, Generator } from './generate.ts';
import { DATASET_FILE, type ImageRecord, RECORDS_FILE, SPLITS, type Split } from './records.ts';
import { checkReplaceable, type OwnFiles } from './replace.ts';
import type { SynthesisConfig } from './synth-config.ts';
import { runPool } from './synth-pool.ts';
import { openSource } from './synth-source.ts';
import { carryOut, type ImageSource, type SynthesisTask } from './synth-tasks.ts';

export interface SynthesisOptions {
  progress?: Progress;
  /** Aborting rejects with an InterruptedError; the output folder stays as it was. */
  signal?: AbortSignal;
  /** Processes to use, default one per core; 1 works in this process. The result does not depend on it. */
  workers?: number;
}

export interface SynthesisSummary {
  output: string;
  images: number;
  counts: Record<Split, number>;
  /** Mean MOS of each split; NaN for an empty one. */
  meanMos: Record<Split, number>;
  /** SHA-256 of records.jsonl. */
  recordsSha256: string;
  seconds: number;
  imagesPerSecond: number;
}

const SCENES_PER_TASK = 8;
const IMAGES_FOLDER = 'images';
const CONTACT_SHEET = 'contact-sheet.png';

/**
 * Writes a generated data set: images/*.png, records.jsonl, contact-sheet.png and dataset.json. The folder appears
 * whole or not at all. It replaces an older generated data set with nothing else in it, but no other folder.
 */
export async function synthesize(
  config: SynthesisConfig,
  { progress = silentProgress, signal, workers = availableParallelism() }: SynthesisOptions = {},
): Promise<SynthesisSummary> {
  const { from } = config;
  const own: OwnFiles = {
    names: [CONTACT_SHEET, DATASET_FILE, IMAGES_FOLDER, RECORDS_FILE],
    mark: 'generatorVersion',
    imagesFolder: IMAGES_FOLDER,
    reads: { photos: config.photos, 'from.folder': from?.folder },
  };
  await checkReplaceable(config.output, own);
  const source = await openSource(config);
  const scenesPerTask = from === undefined ? SCENES_PER_TASK : 1;
  const tasks = SPLITS.flatMap((split) => tasksOf(source, split, scenesPerTask));
  const counts = countsOf(source);
  const total = SPLITS.reduce((sum, split) => sum + counts[split], 0);
  if (total === 0) {
    throw new ConfigError('counts asks for no image in any split', {
      hint: 'set one above 0, for example --set counts.train=1000',
    });
  }
  const start = performance.now();
  let done = 0;
  let records: ImageRecord[] = [];
  let recordsSha256 = '';
  progress.start('images', total);
  const onRecords = (count: number) => {
    done += count;
    progress.update(done);
  };
  const stopIfAborted = () => {
    if (signal?.aborted !== true) return;
    throw new InterruptedError(
      `making ${config.output} was stopped at ${done} of ${total} images; none were kept`,
      {
        hint: 'run the same command again',
      },
    );
  };
  try {
    await writeFolderAtomic(config.output, async (folder) => {
      await mkdir(join(folder, IMAGES_FOLDER));
      try {
        if (workers > 1) {
          records = (await runPool(config, folder, tasks, workers, onRecords, signal)).flat();
        } else {
          for (const task of tasks) {
            const made = await carryOut(source, task, folder, signal);
            stopIfAborted();
            for (const one of made) records.push(one);
            onRecords(made.length);
          }
        }
        await writeFile(join(folder, CONTACT_SHEET), await sheetOf(config));
        await writeJsonl(join(folder, RECORDS_FILE), records);
        recordsSha256 = createHash('sha256')
          .update(await readFile(join(folder, RECORDS_FILE)))
          .digest('hex');
        const { output: _, ...settings } = config;
        const info = { name: 'synthetic', generatorVersion: GENERATOR_VERSION, settings, recordsSha256 };
        await writeFile(join(folder, DATASET_FILE), `${JSON.stringify(info, null, 2)}\n`);
      } catch (error) {
        stopIfAborted();
        throw error;
      }
      stopIfAborted();
      // Something may have been put there in the meantime.
      await checkReplaceable(config.output, own);
    });
  } finally {
    progress.stop();
  }
  const seconds = (performance.now() - start) / 1000;
  return {
    output: config.output,
    images: total,
    counts,
    meanMos: meanMosBySplit(records),
    recordsSha256,
    seconds,
    imagesPerSecond: total / seconds,
  };
}

/** Images [from, to) of a split in memory, the same as `synthesize` writes. */
export async function synthesizeBatch(
  config: SynthesisConfig,
  split: Split,
  from: number,
  to: number,
): Promise<GeneratedImage[]> {
  const generator = await Generator.open(config);
  const perScene = generator.imagesPerScene(split);
  const end = Math.min(to, config.counts[split]);
  const images: GeneratedImage[] = [];
  const firstScene = Math.floor(from / perScene);
  for (let scene = firstScene; scene * perScene < end; scene++) {
    images.push(...(await generator.sceneImages(split, scene)));
  }
  const offset = from - firstScene * perScene;
  return images.slice(offset, offset + Math.max(0, end - from));
}

function tasksOf(source: ImageSource, split: Split, scenesPerTask: number): SynthesisTask[] {
  const scenes = source.scenesOf(split);
  const tasks: SynthesisTask[] = [];
  for (let from = 0; from < scenes; from += scenesPerTask) {
    tasks.push({ split, from, to: Math.min(scenes, from + scenesPerTask) });
  }
  return tasks;
}

const countsOf = (source: ImageSource): Record<Split, number> => ({
  train: source.imagesOf('train'),
  validation: source.imagesOf('validation'),
  test: source.imagesOf('test'),
  cross: source.imagesOf('cross'),
});

/** A sheet of the types that the data set may hold. */
function sheetOf({ seed, size, distortionSet, from }: SynthesisConfig): Promise<Buffer> {
  if (distortionSet === undefined && from === undefined) return contactSheet(seed, size);
  const { seen, unseen } = DISTORTION_SETS[distortionSet ?? 'kadid25'];
  return from === undefined
    ? contactSheet(seed, size, [...seen, ...unseen], unseen)
    : contactSheet(seed, size, from.types ?? seen, []);
}

function meanMosBySplit(records: readonly ImageRecord[]): Record<Split, number> {
  const mean = (split: Split) => {
    const scores = records
      .filter((record) => record.split === split)
      .map((record) => record.mos ?? Number.NaN);
    return scores.reduce((sum, score) => sum + score, 0) / scores.length;
  };
  return { train: mean('train'), validation: mean('validation'), test: mean('test'), cross: mean('cross') };
}
