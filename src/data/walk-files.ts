import { readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { asStorageError, StorageError } from '../core/index.ts';

/**
 * All files in a folder and its subfolders, as sorted paths relative to it with "/". Links are followed, as people
 * link the parts of a data set together; a folder that holds itself by a link is entered once. Links that lead
 * nowhere are named too: what reads them says so.
 */
export async function walkFiles(folder: string): Promise<string[]> {
  const files: string[] = [];
  const walk = async (below: string, inside: readonly string[]): Promise<void> => {
    const path = join(folder, below);
    try {
      const real = await realpath(path);
      if (inside.includes(real)) return;
      for (const entry of await readdir(path, { withFileTypes: true })) {
        const name = below === '' ? entry.name : `${below}/${entry.name}`;
        const isFolder = entry.isSymbolicLink()
          ? await leadsToFolder(join(folder, name))
          : entry.isDirectory();
        if (isFolder) await walk(name, [...inside, real]);
        else files.push(name);
      }
    } catch (error) {
      throw error instanceof StorageError ? error : asStorageError(error, `reading the files in ${path}`);
    }
  };
  await walk('', []);
  return files.sort();
}

async function leadsToFolder(link: string): Promise<boolean> {
  try {
    return (await stat(link)).isDirectory();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ELOOP') return false;
    throw error;
  }
}
