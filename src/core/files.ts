import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { asStorageError } from './errors.ts';

const temporaryName = (path: string): string =>
  join(dirname(path), `.${basename(path)}.tmp-${process.pid}-${randomBytes(4).toString('hex')}`);

/** Cleans up after a failure without hiding it: the first error is the one to report. */
async function removeQuietly(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => undefined);
}

/** Makes a rename durable: without it a power cut can bring the old folder entry back. */
export async function syncFolder(folder: string): Promise<void> {
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(folder, 'r');
  } catch {
    return; // Windows cannot open folders; the rename itself is still atomic there.
  }
  try {
    await handle.sync();
  } catch (error) {
    // Some network file systems refuse to sync a folder; the file's own sync has already happened.
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error;
  } finally {
    await handle.close();
  }
}

/** Writes a file so that readers see the old content or the new, never a part. Creates parent folders. */
export async function writeFileAtomic(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = temporaryName(path);
  try {
    await mkdir(dirname(path), { recursive: true });
    const handle = await open(temporary, 'w');
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await removeQuietly(temporary);
    throw asStorageError(error, `writing ${path}`);
  }
}

/**
 * Fills a folder under a temporary name and then renames it into place, so that a folder that exists is
 * whole. An older folder of the same name is replaced.
 */
export async function writeFolderAtomic(
  path: string,
  fill: (folder: string) => Promise<void>,
): Promise<void> {
  const temporary = temporaryName(path);
  const retired = `${temporary}-old`;
  try {
    await mkdir(temporary, { recursive: true });
    await fill(temporary);
    await syncFolder(temporary);
    try {
      await rename(path, retired);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    try {
      await rename(temporary, path);
    } catch (error) {
      await rename(retired, path).catch(() => undefined); // There may have been no older folder.
      throw error;
    }
    await syncFolder(dirname(path));
    await rm(retired, { recursive: true, force: true });
  } catch (error) {
    await removeQuietly(temporary);
    throw asStorageError(error, `writing folder ${path}`);
  }
}
