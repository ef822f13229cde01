import { readdir, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { asStorageError, InputError, StorageError } from '../../core/index.ts';

/** What the decoder reads of the kinds that are pictures by their name. */
const READABLE = /\.(jpe?g|png|webp|tiff?|gif|avif)$/i;
const OTHER_PICTURE = /\.(bmp|heic|heif|jxl|jp2|raw|dng|cr2|nef|arw)$/i;
const READABLE_KINDS = 'jpg, png, webp, tiff, gif and avif';

/** A picture to score, or a path that leads to none and why. */
export interface ImageFile {
  file: string;
  problem: string | null;
}

/** The pictures behind paths of files and folders, in order. A path that leads to none is listed with why. */
export async function imageFiles(
  inputs: readonly string[],
  note: (line: string) => void,
): Promise<ImageFile[]> {
  const files: ImageFile[] = [];
  for (const input of inputs) {
    try {
      for (const file of await filesOf(input, note)) files.push({ file, problem: null });
    } catch (error) {
      const known = asStorageError(error, `opening ${input}`);
      // One wrong path must not cost the others their score: it is a row of its own.
      if (!(known instanceof InputError || known instanceof StorageError)) throw known;
      files.push({ file: input, problem: known.hint ? `${known.message}: ${known.hint}` : known.message });
    }
  }
  return files;
}

async function filesOf(input: string, note: (line: string) => void): Promise<string[]> {
  if (!(await stat(input)).isDirectory()) return [input];
  const names = (await readdir(input)).sort();
  const others = names.filter((name) => OTHER_PICTURE.test(name));
  if (others.length > 0) {
    const kinds = [...new Set(others.map((name) => extname(name).slice(1).toLowerCase()))].join(', ');
    note(`${input}: ${others.length} file(s) of kinds that are not read are left out (${kinds})`);
  }
  const readable = names.filter((name) => READABLE.test(name));
  if (readable.length === 0) {
    throw new InputError(`${input} holds no image file`, { hint: `looked for ${READABLE_KINDS}` });
  }
  return readable.map((name) => join(input, name));
}
