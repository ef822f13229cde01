import { resolve } from 'node:path';
import { type Progress, StorageError, sha256OfFile, silentProgress } from '../core/index.ts';
import type { ImportManifestConfig } from './import-manifest-config.ts';
import { inParallel } from './load.ts';
import type { ImageIndex } from './manifest/image-index.ts';
import type { Label, LabelProblem } from './manifest/labels.ts';

/** A label and its image. */
export interface Located {
  label: Label;
  /** Absolute path; null where images are not looked for. */
  path: string | null;
  /** Of the file; where it is not read, a text of its own that equals no other. */
  sha256: string;
}

/** Finds and reads the image of each label. Labels without one, and images that several labels mean, are problems. */
export async function locateImages(
  labels: readonly Label[],
  index: ImageIndex | undefined,
  config: ImportManifestConfig,
  problems: LabelProblem[],
  { progress = silentProgress, signal }: { progress?: Progress; signal?: AbortSignal | undefined },
): Promise<Located[]> {
  if (index === undefined)
    return labels.map((label) => ({ label, path: null, sha256: `unchecked ${label.image}` }));
  const ownerOf = new Map<string, string>();
  const found: Located[] = [];
  for (const label of labels) {
    const { place, image } = label;
    const [path, other] = index.find(image);
    if (path === undefined)
      problems.push({ kind: 'no image file', place, detail: `there is no image ${image}` });
    else if (other !== undefined) {
      problems.push({ kind: 'ambiguous image file', place, detail: `${image} may be ${path} or ${other}` });
    } else if (ownerOf.has(path)) {
      const detail = `${path} is the image of ${ownerOf.get(path)} already`;
      problems.push({ kind: 'image shared by labels', place, detail });
    } else {
      ownerOf.set(path, place);
      found.push({ label, path: resolve(index.absolute(path)), sha256: '' });
    }
  }
  const unreadable = new Set<Located>();
  progress.start('images', found.length);
  let done = 0;
  try {
    await inParallel(found.length, 8, async (i) => {
      signal?.throwIfAborted();
      const one = found[i]!;
      const path = one.path!;
      try {
        one.sha256 = config.hashImages ? await sha256OfFile(path) : `unread ${path}`;
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        unreadable.add(one);
        problems.push({
          kind: 'unreadable image',
          place: one.label.place,
          detail: `image ${path} cannot be read`,
        });
      }
      progress.update(++done);
    });
  } finally {
    progress.stop();
  }
  return found.filter((one) => !unreadable.has(one));
}
