import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

export interface Located {
  /** The file as it is called, or null where there is none. */
  path: string | null;
  /** Another spelling in upper and lower case was asked for. */
  otherCase: boolean;
}

/** Finds files by the listing of their folder: a file system that ignores case would hide a wrong spelling. */
export class FileLocator {
  readonly #folders = new Map<string, Promise<Listing | null>>();

  async find(path: string): Promise<Located> {
    const listing = await this.#list(dirname(path));
    if (listing === null) return this.#findFolder(path);
    const name = basename(path);
    if (listing.names.has(name)) return { path, otherCase: false };
    const other = listing.byLowerCase.get(name.toLowerCase());
    return other === undefined
      ? { path: null, otherCase: false }
      : { path: join(dirname(path), other), otherCase: true };
  }

  /** The folder itself may be spelled otherwise. */
  async #findFolder(path: string): Promise<Located> {
    const folder = dirname(path);
    if (dirname(folder) === folder) return { path: null, otherCase: false };
    const found = await this.find(folder);
    if (found.path === null || !found.otherCase) return { path: null, otherCase: false };
    const inside = await this.find(join(found.path, basename(path)));
    return { path: inside.path, otherCase: inside.path !== null };
  }

  #list(folder: string): Promise<Listing | null> {
    const known = this.#folders.get(folder);
    if (known !== undefined) return known;
    const listing = list(folder);
    this.#folders.set(folder, listing);
    return listing;
  }
}

interface Listing {
  names: Set<string>;
  byLowerCase: Map<string, string>;
}

async function list(folder: string): Promise<Listing | null> {
  try {
    const names = await readdir(folder);
    return { names: new Set(names), byLowerCase: new Map(names.map((name) => [name.toLowerCase(), name])) };
  } catch {
    return null; // No such folder, or one that may not be listed: its files are named as missing.
  }
}
