import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { asStorageError, ConfigError, StorageError, sha256OfFile } from '../core/index.ts';
import { pictureCells } from '../formats/index.ts';
import type { ImportCsvConfig } from './import-csv-config.ts';
import { inParallel } from './load.ts';
import { pictureExtension } from './picture-type.ts';
import { FileLocator, spellingKey } from './validate/locate.ts';

/** Where pictures of a table are written to, in the data set folder. */
export const PICTURES_FOLDER = 'images';

/** The image of a row, found or written. */
export interface PlacedImage {
  /** As the table names it, with "/" between folders. */
  id: string;
  path: string;
  /** SHA-256 of the file's bytes, hexadecimal. */
  sha256: string;
}

/** What became of the image of each row, by the row's number: a text says why there is none. */
export interface PlacedImages {
  of: Map<number, PlacedImage | string>;
  /** What is worth knowing, one sentence each. */
  notes: string[];
}

interface NamedRow {
  row: number;
  name: string;
}

/** Finds the image file of each row. Names may differ from the file's in case, Unicode form and as Windows writes paths. */
export async function findImages(rows: readonly NamedRow[], config: ImportCsvConfig): Promise<PlacedImages> {
  const { imagesFolder } = config;
  if (imagesFolder === undefined) {
    throw new ConfigError(
      `${config.csv} names image files in ${config.imageColumn}, and no folder is given`,
      {
        hint: 'give --images <folder>, or a column with the pictures themselves (Parquet)',
      },
    );
  }
  const of: PlacedImages['of'] = new Map();
  const files = new FileLocator();
  const otherwise: string[] = [];
  const rowOf = new Map<string, number>();
  const wanted: { row: number; id: string; path: string }[] = [];
  for (const { row, name } of rows) {
    const found = await locate(files, imagesFolder, name);
    if (found.others.length > 0) {
      of.set(row, `image ${name} may be ${[found.path, ...found.others].join(' or ')}`);
    } else if (rowOf.has(found.path)) {
      of.set(row, `image ${name} is listed twice, first in row ${rowOf.get(found.path)}`);
    } else {
      rowOf.set(found.path, row);
      wanted.push({ row, id: found.id, path: found.path });
      if (found.otherwise) otherwise.push(name);
    }
  }
  await inParallel(wanted.length, 8, async (i) => {
    const { row, id, path } = wanted[i]!;
    try {
      of.set(row, { id, path, sha256: await sha256OfFile(path) });
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      of.set(row, `image ${path} cannot be read`);
    }
  });
  return { of, notes: spellingNotes(otherwise) };
}

async function locate(
  files: FileLocator,
  folder: string,
  name: string,
): Promise<{ id: string; path: string; others: string[]; otherwise: boolean }> {
  for (const id of new Set([name, name.replaceAll('\\', '/')])) {
    const { path, otherCase, others } = await files.find(resolve(folder, id));
    if (path !== null) return { id, path, others, otherwise: otherCase || id !== name };
  }
  return { id: name, path: resolve(folder, name), others: [], otherwise: false };
}

const spellingNotes = (names: readonly string[]): string[] =>
  names.length === 0
    ? []
    : [
        `${names.length} image name(s) are spelled otherwise than their files (case, Unicode form or "\\"), such as ${names[0]}`,
      ];

/**
 * Writes the pictures of a Parquet column into `folder`/images, a row group at a time, so that memory does not grow
 * with the table. A picture is called what its `path` says, or by the number of its row.
 */
export async function writePictures(
  rows: readonly { row: number }[],
  config: ImportCsvConfig,
  folder: string,
): Promise<PlacedImages> {
  const of: PlacedImages['of'] = new Map();
  const wanted = new Set(rows.map(({ row }) => row));
  const taken = new Set<string>();
  try {
    await mkdir(join(folder, PICTURES_FOLDER));
    for await (const { row, bytes, path } of pictureCells(config.csv, config.imageColumn)) {
      if (!wanted.has(row)) continue;
      const extension = bytes === null ? undefined : pictureExtension(bytes);
      if (bytes === null || extension === undefined) {
        of.set(
          row,
          `${config.imageColumn} holds ${bytes === null ? 'no picture' : 'bytes that are no picture'}`,
        );
        continue;
      }
      const name = freeName(path, row, extension, taken);
      await writeFile(join(folder, PICTURES_FOLDER, name), bytes);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      of.set(row, { id: name, path: join(resolve(config.output), PICTURES_FOLDER, name), sha256 });
    }
  } catch (error) {
    throw asStorageError(error, `writing the pictures of ${config.csv} to ${config.output}`);
  }
  return { of, notes: [] };
}

/** Longest name of a file in bytes that every file system takes, with room for a number. */
const LONGEST_STEM = 180;

/** The last part of the path with the extension of what the bytes are; a name that is taken gets the row's number. */
function freeName(path: string | null, row: number, extension: string, taken: Set<string>): string {
  const last = path?.split(/[/\\]/).at(-1) ?? '';
  const plain = last
    .replace(/\.[a-z0-9]{1,5}$/i, '')
    .normalize('NFC')
    // What one of the three common systems does not take in a name, and what would hide the file.
    .replaceAll(/[<>:"|?*\p{Cc}]/gu, '_')
    .replace(/^[. ]+|[. ]+$/g, '');
  const stem = [...plain].slice(0, LONGEST_STEM / 4).join('');
  const number = `row-${String(row).padStart(6, '0')}`;
  const first = stem === '' ? `${number}.${extension}` : `${stem}.${extension}`;
  const name = taken.has(spellingKey(first)) ? `${stem}-${number}.${extension}` : first;
  taken.add(spellingKey(name));
  return name;
}
