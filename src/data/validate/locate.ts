import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

export interface Located {
  /** The file as it is called, or null where there is none. */
  path: string | null;
  /** Another spelling was asked for: in upper and lower case, or in the Unicode form of its letters. */
  otherCase: boolean;
  /** Further files that the spelling may mean. */
  others: string[];
}

/** Equal for names that only spelling tells apart: macOS writes an é as e and an accent, most labels as one letter. */
export const spellingKey = (name: string): string => name.normalize('NFC').toLowerCase();

const nowhere = (): Located => ({ path: null, otherCase: false, others: [] });

/** Finds files by the listing of their folder: a file system that ignores case would hide a wrong spelling. */
export class FileLocator {
  readonly #folders = new Map<string, Promise<Listing | null>>();

  async find(path: string): Promise<Located> {
    const listing = await this.#list(dirname(path));
    if (listing === null) return this.#findFolder(path);
    const name = basename(path);
    if (listing.names.has(name)) return { path, otherCase: false, others: [] };
    const [found, ...others] = (listing.bySpelling.get(spellingKey(name)) ?? []).map((one) =>
      join(dirname(path), one),
    );
    return found === undefined ? nowhere() : { path: found, otherCase: true, others };
  }

  /** The folder itself may be spelled otherwise. */
  async #findFolder(path: string): Promise<Located> {
    const folder = dirname(path);
    if (dirname(folder) === folder) return nowhere();
    const found = await this.find(folder);
    if (found.path === null || !found.otherCase) return nowhere();
    const inside = await this.find(join(found.path, basename(path)));
    return { ...inside, otherCase: inside.path !== null };
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
  bySpelling: Map<string, string[]>;
}

async function list(folder: string): Promise<Listing | null> {
  try {
    const names = await readdir(folder);
    const bySpelling = new Map<string, string[]>();
    for (const name of names) {
      const same = bySpelling.get(spellingKey(name));
      if (same === undefined) bySpelling.set(spellingKey(name), [name]);
      else same.push(name);
    }
    return { names: new Set(names), bySpelling };
  } catch {
    return null; // No such folder, or one that may not be listed: its files are named as missing.
  }
}
