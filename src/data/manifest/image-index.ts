import { join } from 'node:path';
import { walkFiles } from '../walk-files.ts';

const EXTENSIONS = /\.(jpe?g|png|bmp|webp|tiff?|gif|avif)$/i;

/** The picture files of a folder and its subfolders, found by the names that label files use for them. */
export class ImageIndex {
  /** Paths relative to the folder, with / and in order. */
  readonly paths: readonly string[];
  readonly folder: string;
  readonly #anyExtension: boolean;
  readonly #byName = new Map<string, string[]>();

  private constructor(folder: string, paths: readonly string[], anyExtension: boolean) {
    this.folder = folder;
    this.paths = paths;
    this.#anyExtension = anyExtension;
    for (const path of paths) {
      const key = this.#key(path.slice(path.lastIndexOf('/') + 1));
      const same = this.#byName.get(key);
      if (same === undefined) this.#byName.set(key, [path]);
      else same.push(path);
    }
  }

  /** `anyExtension`: I01.BMP in the labels also means I01.png, for sets that were converted. */
  static async open(folder: string, { anyExtension = false } = {}): Promise<ImageIndex> {
    const names = await walkFiles(folder);
    const paths = names.filter((name) => EXTENSIONS.test(name));
    return new ImageIndex(folder, paths.sort(), anyExtension);
  }

  /**
   * Files that a label means: equal in name without case and Unicode form, and one path being the end of the other ("img1.bmp" and
   * "jp2k/img1.bmp", but not "wn/img1.bmp"). The longest agreement wins, then the same case.
   */
  find(label: string): string[] {
    const wanted = label.split('/').filter((part) => part !== '' && part !== '.');
    const candidates = (this.#byName.get(this.#key(wanted.at(-1) ?? '')) ?? []).flatMap((path) => {
      const parts = path.split('/');
      const shared = Math.min(parts.length, wanted.length);
      const fits = Array.from({ length: shared }, (_, i) => i + 1).every((i) => {
        return this.#key(parts.at(-i)!) === this.#key(wanted.at(-i)!);
      });
      return fits ? [{ path, shared, sameCase: path.endsWith(wanted.slice(-shared).join('/')) }] : [];
    });
    const most = Math.max(0, ...candidates.map(({ shared }) => shared));
    const best = candidates.filter(({ shared }) => shared === most);
    const exact = best.filter(({ sameCase }) => sameCase);
    return (exact.length > 0 ? exact : best).map(({ path }) => path);
  }

  absolute(path: string): string {
    return join(this.folder, path);
  }

  #key(name: string): string {
    const lower = name.normalize('NFC').toLowerCase();
    return this.#anyExtension ? lower.replace(EXTENSIONS, '') : lower;
  }
}
