import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { asStorageError, StorageError } from './errors.ts';

/** A pid means something on its own machine only, and folders may be shared between machines. */
const HOST = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);

const temporaryName = (path: string): string =>
  join(dirname(path), `.${basename(path)}.tmp-${process.pid}-${randomBytes(4).toString('hex')}-${HOST}`);

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | undefined)?.code;

/** Cleans up after a failure without hiding it: the first error is the one to report. */
async function removeQuietly(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => undefined);
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/**
 * Creates a folder and the parents it lacks, one by one from the first that exists. Node's own recursive mkdir
 * never returns in /proc, and says "no such file" of a read-only file system.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    const missing: string[] = [];
    let folder = resolve(path);
    while (!(await isFolder(folder))) {
      missing.unshift(folder);
      if (dirname(folder) === folder) break;
      folder = dirname(folder);
    }
    for (const next of missing) await makeOne(next);
  } catch (error) {
    throw asStorageError(error, `creating folder ${path}`);
  }
}

async function makeOne(folder: string, name = folder): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    const code = codeOf(error);
    // Somebody else may have been quicker.
    if (code === 'EEXIST' && (await isFolder(folder))) return;
    if (code === 'ENOENT' && (await isFolder(dirname(folder)))) {
      throw new StorageError(`creating folder ${name} failed: ${dirname(folder)} takes no new folders`, {
        hint: 'choose another folder',
        cause: error,
      });
    }
    throw error;
  }
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
    if (codeOf(error) !== 'EINVAL') throw error;
  } finally {
    await handle.close();
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM means that it exists and belongs to somebody else.
    return codeOf(error) !== 'ESRCH';
  }
}

/**
 * Removes what killed processes of this machine left beside a target. A folder that was being replaced lies
 * under its retired name when the process died between the two renames: it is brought back.
 */
async function sweepLeftovers(path: string): Promise<void> {
  const parent = dirname(path);
  const prefix = `.${basename(path)}.tmp-`;
  let names: string[];
  try {
    names = await readdir(parent);
  } catch (error) {
    // A folder may be open for writing and closed for looking: then nothing can be tidied.
    if (codeOf(error) === 'EACCES') return;
    throw error;
  }
  const leftovers = names.flatMap((name) => {
    if (!name.startsWith(prefix)) return [];
    const [, pid, host, old] =
      /^(\d+)-[0-9a-f]{8}-([0-9a-f]{8})(-old)?$/.exec(name.slice(prefix.length)) ?? [];
    if (pid === undefined || host !== HOST || isAlive(Number(pid))) return [];
    return [{ name, retired: old !== undefined }];
  });
  let present = names.includes(basename(path));
  for (const { name, retired } of leftovers) {
    if (retired && !present) {
      await rename(join(parent, name), path);
      present = true;
    } else {
      await rm(join(parent, name), { recursive: true, force: true });
    }
  }
}

/** Writes a file so that readers see the old content or the new, never a part. Creates parent folders. */
export async function writeFileAtomic(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = temporaryName(path);
  try {
    await makeFolder(dirname(path));
    await sweepLeftovers(path);
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
 * whole. An older folder of the same name is replaced; a file of that name is not.
 */
export async function writeFolderAtomic(
  path: string,
  fill: (folder: string) => Promise<void>,
): Promise<void> {
  const temporary = temporaryName(path);
  const retired = `${temporary}-old`;
  try {
    await makeFolder(dirname(path));
    await sweepLeftovers(path);
    await refuseFile(path);
    await makeOne(temporary, path);
    await fill(temporary);
    await syncFolder(temporary);
    try {
      await rename(path, retired);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
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

async function refuseFile(path: string): Promise<void> {
  try {
    if ((await lstat(path)).isFile()) {
      throw new StorageError(`writing folder ${path} failed: there is a file of that name`, {
        hint: 'choose another folder, or move the file away',
      });
    }
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/** SHA-256 of a file's bytes in hexadecimal. A file that cannot be read is a StorageError. */
export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  } catch (error) {
    throw asStorageError(error, `reading ${path}`);
  }
  return hash.digest('hex');
}

/** The text of a file, null where there is none. StorageError for one that cannot be read. */
export async function textIfPresent(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw asStorageError(error, `reading ${path}`);
  }
}
