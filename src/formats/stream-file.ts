import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { asStorageError, syncFolder, writeFolderAtomic } from '../core/index.ts';

/**
 * Writes a file piece by piece and waits until it is on the disk. For the inside of a folder that is not in place
 * yet (`writeFolderAtomic`): the file grows under its own name. StorageError where writing fails.
 */
export async function streamFile(
  path: string,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  try {
    const handle = await open(path, 'w');
    try {
      for await (const piece of pieces) {
        for (let done = 0; done < piece.length; ) {
          done += (await handle.write(piece, done)).bytesWritten;
        }
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw asStorageError(error, `writing ${path}`);
  }
}

/** As `streamFile`, for any place: the file appears whole or not at all. */
export async function streamFileAtomic(path: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const staging = join(dirname(path), `.${basename(path)}.writing`);
  const name = basename(path);
  try {
    await writeFolderAtomic(staging, (folder) => streamFile(join(folder, name), pieces));
    await rename(join(staging, name), path);
    await syncFolder(dirname(path));
  } catch (error) {
    throw asStorageError(error, `writing ${path}`);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}
