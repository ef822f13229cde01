import { constants } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { asStorageError, ConfigError, InputError } from '../../core/index.ts';

/** Folders that may be read from, as the file system itself calls them. */
export type Roots = readonly string[];

/** The folders with every symbolic link resolved. ConfigError for none, and for what is no folder. */
export async function openRoots(folders: readonly string[]): Promise<Roots> {
  if (folders.length === 0) throw new ConfigError('no folder may be read', { hint: 'give --root <folder>' });
  return Promise.all(
    folders.map(async (folder) => {
      try {
        const real = await realpath(folder);
        if ((await stat(real)).isDirectory()) return real;
      } catch (error) {
        throw new ConfigError(`the root ${folder} cannot be opened`, {
          hint: 'give an existing folder that may be read',
          cause: error,
        });
      }
      throw new ConfigError(`the root ${folder} is no folder`, {
        hint: 'give the folder that holds the pictures',
      });
    }),
  );
}

const isWithin = (roots: Roots, path: string): boolean =>
  roots.some((root) => {
    const way = relative(root, path);
    return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
  });

/** One answer for all that lies outside, whether it exists or not. */
const outside = (path: string): InputError =>
  new InputError(`"${path}" is outside the folders that may be read`, {
    hint: 'name a picture inside them; whoever starts the server allows a folder with --root',
  });

/**
 * The bytes of a file inside the roots. A relative path counts from the first root; links are resolved before the
 * check, and the file is opened without following another one.
 *
 * InputError for a path outside, for what is no regular file, and beyond `maxBytes`; StorageError for a file that
 * cannot be read.
 */
export async function readWithin(roots: Roots, given: string, maxBytes: number): Promise<Buffer> {
  const path = resolve(roots[0]!, plainPath(given));
  let file: FileHandle | undefined;
  try {
    const real = await realOf(path, roots, given);
    // Non-blocking, because opening a pipe would wait for its other end.
    file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const status = await file.stat();
    if (!status.isFile()) {
      throw new InputError(`${given} is no regular file`, { hint: 'name an image file' });
    }
    if (status.size > maxBytes) {
      throw new InputError(`${given} has more than the ${maxBytes} bytes allowed`, {
        hint: 'scale the picture down',
      });
    }
    // A folder on the way may have become a link since it was looked at.
    if ((await realpath(path)) !== real) throw outside(given);
    return await file.readFile();
  } catch (error) {
    throw asStorageError(error, `reading image ${given}`);
  } finally {
    await file?.close();
  }
}

async function realOf(path: string, roots: Roots, given: string): Promise<string> {
  try {
    const real = await realpath(path);
    if (isWithin(roots, real)) return real;
  } catch (error) {
    if (isWithin(roots, path)) throw error;
  }
  throw outside(given);
}

function plainPath(given: string): string {
  if (given === '' || given.includes('\0')) {
    throw new InputError(given === '' ? 'the path is empty' : 'the path holds a zero character');
  }
  if (!/^file:/i.test(given)) return given;
  try {
    return fileURLToPath(given);
  } catch (error) {
    throw new InputError(`"${given}" names no file here`, { cause: error });
  }
}
