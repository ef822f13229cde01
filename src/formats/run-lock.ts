import { readFileSync } from 'node:fs';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { z } from 'zod';
import { asStorageError, StorageError } from '../core/index.ts';

const ownerSchema = z.object({ pid: z.number(), host: z.string(), started: z.string() });
type Owner = z.infer<typeof ownerSchema>;

/** A lock file whose content is being written is empty for a moment; after this long it was abandoned. */
const UNREADABLE_IS_STALE_MS = 10_000;

/** The start time of a process where the system tells it (Linux): pids are used again, the pair is not. */
function startOfProcess(pid: number): string {
  try {
    const stats = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field, the command's name, may hold spaces; the start time is the 22nd field in all.
    return stats.slice(stats.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return ''; // No such process, or no /proc: the pid alone must do.
  }
}

function isAlive(owner: Owner): boolean {
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    // EPERM means that it exists and belongs to somebody else.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  return owner.started === '' || startOfProcess(owner.pid) === owner.started;
}

/** The text of a lock whose owner is gone, or null when there is no lock; StorageError when it is held. */
async function readStaleLock(path: string): Promise<string | null> {
  let text: string;
  let age: number;
  try {
    text = await readFile(path, 'utf8');
    age = Date.now() - (await stat(path)).mtimeMs;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  let owner: Owner | undefined;
  try {
    owner = ownerSchema.parse(JSON.parse(text));
  } catch {
    if (age > UNREADABLE_IS_STALE_MS) return text;
  }
  if (owner?.host === hostname() && !isAlive(owner)) return text;
  const who = owner === undefined ? 'another process' : `process ${owner.pid} on ${owner.host}`;
  throw new StorageError(`the run folder is in use by ${who}`, {
    hint: `wait for it or stop it; if it is gone for certain, delete ${path}`,
  });
}

/** Creates the lock file; false when there is one. A file that could be created but not written is removed. */
async function createLock(path: string, owner: Owner): Promise<boolean> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, 'wx');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  try {
    await file.writeFile(JSON.stringify(owner));
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  return true;
}

async function removeStaleLock(path: string, stale: string): Promise<void> {
  const aside = `${path}.stale-${process.pid}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  // Another process may have been quicker: then this is its new lock, and it goes back.
  if ((await readFile(aside, 'utf8')) === stale) await rm(aside, { force: true });
  else await rename(aside, path);
}

/**
 * Takes the lock of a folder for this process, over a dead owner's if need be. Returns what gives it back.
 * A lock from another machine is never taken over, since nobody here can tell whether its owner lives.
 */
export async function takeRunLock(path: string): Promise<() => Promise<void>> {
  const owner: Owner = { pid: process.pid, host: hostname(), started: startOfProcess(process.pid) };
  try {
    while (!(await createLock(path, owner))) {
      const stale = await readStaleLock(path);
      if (stale !== null) await removeStaleLock(path, stale);
    }
  } catch (error) {
    throw asStorageError(error, `locking ${path}`);
  }
  return () => rm(path, { force: true });
}
