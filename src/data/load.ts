import { access } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import {
  ConfigError,
  InputError,
  QPonderError,
  type RgbImage,
  readAllJsonl,
  sha256OfFile,
} from '../core/index.ts';
import { decodeImage } from './decode.ts';
import { type ImageRecord, imageRecordSchema, RECORDS_FILE, SPLITS, type Split } from './records.ts';

export interface Dataset {
  folder: string;
  records: ImageRecord[];
  /** The path of each record's image, in the same order. */
  images: string[];
}

/** Where a record's image lies: absolute paths stay, others are relative to the data set folder. */
export const imagePath = (folder: string, record: Pick<ImageRecord, 'image'>): string =>
  isAbsolute(record.image) ? record.image : join(folder, record.image);

export interface LoadOptions {
  /** The splits are not used, because new ones are to be drawn: a group may lie in two. Default false. */
  ignoreSplits?: boolean;
}

/**
 * Reads a data set folder's records.jsonl. Bad rows, repeated ids and groups that lie in two splits are
 * InputErrors; the images themselves are not opened.
 */
export async function loadDataset(
  folder: string,
  { ignoreSplits = false }: LoadOptions = {},
): Promise<Dataset> {
  const path = join(folder, RECORDS_FILE);
  await requireDatasetFolder(folder);
  const records = await readAllJsonl(path, imageRecordSchema);
  if (records.length === 0) throw new InputError(`${path} holds no images`);
  const ids = new Set<string>();
  const splitOfGroup = new Map<string, Split>();
  for (const { id, group, split } of records) {
    if (ids.has(id))
      throw new InputError(`${path} holds the id ${id} twice`, { hint: 'give every image its own id' });
    ids.add(id);
    const other = splitOfGroup.get(group) ?? split;
    if (other !== split && !ignoreSplits) {
      throw new InputError(`${path}: group ${group} lies in both ${other} and ${split}`, {
        hint: 'images of one scene must share a split, or the test would know what was trained on',
      });
    }
    splitOfGroup.set(group, split);
  }
  return { folder, records, images: records.map((record) => imagePath(folder, record)) };
}

/** Tells a folder that is no data set from one whose records cannot be read. */
async function requireDatasetFolder(folder: string): Promise<void> {
  try {
    await access(join(folder, RECORDS_FILE));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return;
    throw new InputError(`${folder} is no data set folder: it has no ${RECORDS_FILE}`, {
      hint: 'make one with q-ponder data import (your own images) or q-ponder data synth (generated ones)',
      cause: error,
    });
  }
}

export const recordsOf = ({ records }: Pick<Dataset, 'records'>, split: Split): ImageRecord[] =>
  records.filter((record) => record.split === split);

export interface LoadPixelsOptions {
  /** Images decoded at the same time, default 4. */
  concurrency?: number;
  signal?: AbortSignal;
  /** Applied to each picture as soon as it is decoded, to check or to shrink it. Its errors get the file's name. */
  prepare?: (image: RgbImage) => RgbImage;
}

/** Decodes the images of records, in order. */
export async function loadPixels(
  records: readonly Pick<ImageRecord, 'image'>[],
  folder: string,
  { concurrency = 4, signal, prepare = (image) => image }: LoadPixelsOptions = {},
): Promise<RgbImage[]> {
  const images: RgbImage[] = new Array(records.length);
  await inParallel(records.length, concurrency, async (i) => {
    signal?.throwIfAborted();
    const path = imagePath(folder, records[i]!);
    const image = await decodeImage(path);
    try {
      images[i] = prepare(image);
    } catch (error) {
      if (!(error instanceof QPonderError)) throw error;
      const Same = error instanceof ConfigError ? ConfigError : InputError;
      throw new Same(`${path} cannot be used: ${error.message}`, {
        hint: error.hint ?? 'leave it out of the data set',
        cause: error,
      });
    }
  });
  return images;
}

export interface DuplicateImage {
  sha256: string;
  /** The records with this content, in at least two splits. */
  ids: string[];
  splits: Split[];
}

/** Images whose files are equal byte for byte and that lie in more than one split. */
export async function duplicatesAcrossSplits({ records, images }: Dataset): Promise<DuplicateImage[]> {
  const hashes: string[] = new Array(records.length);
  await inParallel(records.length, 8, async (i) => {
    hashes[i] = await sha256OfFile(images[i]!);
  });
  return findDuplicates(records, hashes);
}

/** The same, of images whose hashes are known already, in the order of the records. */
export function findDuplicates(records: readonly ImageRecord[], hashes: readonly string[]): DuplicateImage[] {
  const byHash = new Map<string, ImageRecord[]>();
  for (const [i, record] of records.entries()) {
    const same = byHash.get(hashes[i]!);
    if (same === undefined) byHash.set(hashes[i]!, [record]);
    else same.push(record);
  }
  return [...byHash].flatMap(([sha256, same]) => {
    const splits = SPLITS.filter((split) => same.some((record) => record.split === split));
    return splits.length > 1 ? [{ sha256, ids: same.map(({ id }) => id), splits }] : [];
  });
}

/**
 * Calls `work` for 0 to count - 1, at most `concurrency` of them at a time. After a failure no further one begins,
 * those under way are awaited, and the failure with the lowest index is thrown: always the same one, whatever the
 * order in which they ended.
 */
export async function inParallel(
  count: number,
  concurrency: number,
  work: (i: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const failures: { index: number; error: unknown }[] = [];
  const lane = async () => {
    while (next < count && failures.length === 0) {
      const index = next++;
      try {
        await work(index);
      } catch (error) {
        failures.push({ index, error });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(concurrency, count)) }, lane));
  const [first] = failures.sort((a, b) => a.index - b.index);
  if (first !== undefined) throw first.error;
}
