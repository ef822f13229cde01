import { readdir, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { asStorageError, InputError, StorageError } from '../../core/index.ts';

/** What the decoder reads of the kinds that are pictures by their name. */
const READABLE = /\.(jpe?g|png|webp|tiff?|gif|avif)$/i;
const OTHER_PICTURE = /\.(bmp|heic|heif|jxl|jp2|raw|dng|cr2|nef|arw)$/i;
const READABLE_KINDS = 'jpg, png, webp, tiff, gif and avif';

/** Stands for a list of paths on standard input. */
export const STANDARD_INPUT = '-';

/** A picture to score, or a path that leads to none and why. */
export interface ImageFile {
  file: string;
  problem: string | null;
}

/**
 * Paths in a text, one a line; separated by zero characters where there are any (`find -print0`). Empty lines do not
 * count, spaces inside and around a path do.
 */
export const pathsIn = (text: string): string[] =>
  text.split(text.includes('\0') ? '\0' : /\r?\n/).filter((path) => path !== '');

/**
 * The pictures behind paths of files and folders, in order; `-` stands for the paths that `readList` gives. A path
 * that leads to none is listed with why. InputError for a second `-`.
 */
export async function imageFiles(
  inputs: readonly string[],
  note: (line: string) => void,
  readList: () => Promise<string> = () => Promise.resolve(''),
): Promise<ImageFile[]> {
  const paths: string[] = [];
  for (const [at, input] of inputs.entries()) {
    if (input !== STANDARD_INPUT) paths.push(input);
    else if (inputs.indexOf(STANDARD_INPUT) === at) paths.push(...pathsIn(await readList()));
    else throw new InputError('"-" is given twice', { hint: 'standard input can be read once only' });
  }
  if (paths.length === 0) throw new InputError('standard input holds no path', { hint: 'one a line' });
  const files: ImageFile[] = [];
  for (const path of paths) {
    try {
      for (const file of await filesOf(path, note)) files.push({ file, problem: null });
    } catch (error) {
      const known = asStorageError(error, `opening ${path}`);
      // One wrong path must not cost the others their score: it is a row of its own.
      if (!(known instanceof InputError || known instanceof StorageError)) throw known;
      files.push({ file: path, problem: known.hint ? `${known.message}: ${known.hint}` : known.message });
    }
  }
  return files;
}

async function filesOf(input: string, note: (line: string) => void): Promise<string[]> {
  if (!(await stat(input)).isDirectory()) return [input];
  const names = await namesIn(input);
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

/**
 * The files in a folder and the folders in it, by path, those in it before those further down. What is hidden (a
 * leading dot) stays out, and links to folders are not followed: they may lead back.
 */
async function namesIn(folder: string): Promise<string[]> {
  const entries = (await readdir(folder, { withFileTypes: true }))
    .filter(({ name }) => !name.startsWith('.'))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const names = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
  for (const { name } of entries.filter((entry) => entry.isDirectory())) {
    for (const below of await namesIn(join(folder, name))) names.push(join(name, below));
  }
  return names;
}
