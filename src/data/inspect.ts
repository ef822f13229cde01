import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { asStorageError, InputError } from '../core/index.ts';
import { loadDataset } from './load.ts';
import { DATASET_FILE, type ImageRecord, SPLITS, type Split } from './records.ts';

const infoSchema = z.looseObject({
  title: z.string().optional(),
  licence: z.string().optional(),
  citation: z.string().optional(),
  importedFrom: z.string().optional(),
  form: z.string().optional(),
  splits: z.string().optional(),
  imagesChecked: z.boolean().optional(),
});

/** Equal bins of [1, 5]; the last one is closed. */
export const MOS_BINS = 16;

export interface SplitInspection {
  images: number;
  groups: number;
  /** Images that nobody has judged. */
  unjudged: number;
  /** Mean and standard deviation (n in the denominator) of the MOS on [1, 5]; null without a score. */
  mean: number | null;
  std: number | null;
  /** Images per bin of the MOS. */
  histogram: number[];
}

export interface Inspection {
  folder: string;
  datasets: string[];
  info: z.infer<typeof infoSchema>;
  images: number;
  /** Splits that have images, in the usual order. */
  splits: Partial<Record<Split, SplitInspection>>;
  groups: { count: number; largest: number; sizeOfMost: number };
  source: { least: number; greatest: number; range: [number, number]; direction: 'higher' | 'lower' } | null;
  known: { std: number; raters: number; votes: number; reference: number };
  /** Images by distortion, most frequent first: the authors' words, or the types of generated images. */
  distortions: [string, number][];
  licences: string[];
  unchecked: number;
}

/** What a data set folder holds. The images themselves are not opened. */
export async function inspectDataset(folder: string): Promise<Inspection> {
  const { records } = await loadDataset(folder);
  const sizes = countBy(records.map(({ group }) => group));
  const sizeCounts = countBy([...sizes.values()].map(String));
  const splits = SPLITS.flatMap((split) => {
    const own = records.filter((record) => record.split === split);
    return own.length === 0 ? [] : [[split, inspectSplit(own)] as const];
  });
  const count = (has: (record: ImageRecord) => boolean): number => records.filter(has).length;
  return {
    folder,
    datasets: [...new Set(records.map(({ dataset }) => dataset))],
    info: await readInfo(folder),
    images: records.length,
    splits: Object.fromEntries(splits),
    groups: {
      count: sizes.size,
      largest: [...sizes.values()].reduce((a, b) => Math.max(a, b), 0),
      sizeOfMost: Number(byFrequency(sizeCounts)[0]?.[0] ?? 0),
    },
    source: sourceScale(records),
    known: {
      std: count(({ mosStd }) => mosStd !== null),
      raters: count(({ raters }) => raters !== null),
      votes: count(({ votes }) => votes !== undefined),
      reference: count(({ reference }) => reference !== undefined),
    },
    distortions: byFrequency(countBy(records.flatMap(distortionNames))),
    licences: [...new Set(records.flatMap(({ licence }) => licence ?? []))],
    unchecked: count(({ imageUnchecked }) => imageUnchecked === true),
  };
}

const distortionNames = ({ distortion, distortions }: ImageRecord): string[] =>
  distortion !== undefined ? [distortion] : distortions.map(({ type }) => type);

function inspectSplit(records: readonly ImageRecord[]): SplitInspection {
  const scores = records.flatMap(({ mos }) => mos ?? []);
  const histogram = new Array<number>(MOS_BINS).fill(0);
  for (const mos of scores) {
    const bin = Math.min(MOS_BINS - 1, Math.floor(((mos - 1) / 4) * MOS_BINS));
    histogram[bin] = histogram[bin]! + 1;
  }
  const mean = scores.reduce((sum, mos) => sum + mos, 0) / scores.length;
  const variance = scores.reduce((sum, mos) => sum + (mos - mean) ** 2, 0) / scores.length;
  return {
    images: records.length,
    groups: new Set(records.map(({ group }) => group)).size,
    unjudged: records.length - scores.length,
    mean: scores.length === 0 ? null : mean,
    std: scores.length === 0 ? null : Math.sqrt(variance),
    histogram,
  };
}

/** Null where the set has no published scores, or those of several scales. */
function sourceScale(records: readonly ImageRecord[]): Inspection['source'] {
  const scales = records.flatMap(({ mosSource }) => mosSource ?? []);
  const [first] = scales;
  if (first === undefined) return null;
  const { range, direction } = first;
  const same = scales.every(
    (scale) => scale.range[0] === range[0] && scale.range[1] === range[1] && scale.direction === direction,
  );
  if (!same) return null;
  const values = scales.map(({ value }) => value);
  return {
    least: values.reduce((a, b) => Math.min(a, b)),
    greatest: values.reduce((a, b) => Math.max(a, b)),
    range,
    direction,
  };
}

function countBy(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

const byFrequency = (counts: ReadonlyMap<string, number>): [string, number][] =>
  [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));

async function readInfo(folder: string): Promise<z.infer<typeof infoSchema>> {
  const path = join(folder, DATASET_FILE);
  try {
    return infoSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    // A folder with records alone is a data set all the same.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    const storage = asStorageError(error, `reading ${path}`);
    if (storage !== error) throw storage;
    throw new InputError(`${path} is not what q-ponder writes: ${(error as Error).message}`, {
      hint: 'make the data set again',
    });
  }
}
