import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { asStorageError, CheckpointError, writeFileAtomic, writeFolderAtomic } from '../core/index.ts';

const bestSchema = z.object({ step: z.int().min(0), metric: z.string(), value: z.number() });

/** The best checkpoint so far, by a validation metric. */
export type BestPointer = z.infer<typeof bestSchema>;

const manifestSchema = z.object({
  step: z.int().min(0),
  /** The best checkpoint at the time this one was written: what a resumed run goes back to. */
  best: bestSchema.nullable(),
  files: z.record(z.string(), z.object({ bytes: z.int(), sha256: z.string() })),
});
type Manifest = z.infer<typeof manifestSchema>;

export interface Checkpoint {
  step: number;
  /** The checkpoint's own folder, whole and verified. */
  folder: string;
  best: BestPointer | null;
}

const MANIFEST = 'manifest.json';
const nameOfStep = (step: number): string => `step-${String(step).padStart(8, '0')}`;

async function filesBelow(folder: string, prefix = ''): Promise<string[]> {
  const entries = await readdir(join(folder, prefix), { withFileTypes: true });
  const names: string[] = [];
  for (const entry of entries) {
    const name = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
    if (entry.isDirectory()) names.push(...(await filesBelow(folder, name)));
    else if (name !== MANIFEST) names.push(name);
  }
  return names.sort();
}

async function digestOf(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk as Buffer);
    bytes += (chunk as Buffer).length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** Steps of the checkpoints in a folder, oldest first; an absent folder has none. */
export async function checkpointSteps(folder: string): Promise<number[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw asStorageError(error, `reading ${folder}`);
  }
  return names
    .flatMap((name) => /^step-(\d{8,})$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

/** Writes one checkpoint whole: its files, then a manifest with their hashes, then one rename. */
export async function writeCheckpoint(
  folder: string,
  step: number,
  best: BestPointer | null,
  fill: (folder: string) => Promise<void>,
): Promise<Checkpoint> {
  const target = join(folder, nameOfStep(step));
  await writeFolderAtomic(target, async (temporary) => {
    await fill(temporary);
    const manifest: Manifest = { step, best, files: {} };
    for (const name of await filesBelow(temporary)) {
      const path = join(temporary, name);
      const file = await open(path, 'r+');
      try {
        await file.sync();
      } finally {
        await file.close();
      }
      manifest.files[name] = await digestOf(path);
    }
    await writeFileAtomic(join(temporary, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
  });
  return { step, folder: target, best };
}

/** Reads one checkpoint and compares every file with its recorded hash; CheckpointError says what is wrong. */
export async function verifyCheckpoint(folder: string, step: number): Promise<Checkpoint> {
  const target = join(folder, nameOfStep(step));
  const fail = (problem: string, cause?: unknown): never => {
    throw new CheckpointError(`checkpoint ${target} is damaged: ${problem}`, {
      hint: 'restore the folder from a copy, or remove it to go back to the checkpoint before',
      cause,
    });
  };
  let manifest: Manifest;
  try {
    manifest = await readManifest(folder, step);
  } catch (error) {
    return fail(`${MANIFEST} cannot be read`, error);
  }
  if (manifest.step !== step) fail(`${MANIFEST} is of step ${manifest.step}`);
  for (const [name, recorded] of Object.entries(manifest.files)) {
    let found: { bytes: number; sha256: string };
    try {
      found = await digestOf(join(target, name));
    } catch (error) {
      return fail(`${name} cannot be read`, error);
    }
    if (found.bytes !== recorded.bytes) fail(`${name} has ${found.bytes} bytes instead of ${recorded.bytes}`);
    if (found.sha256 !== recorded.sha256) fail(`${name} differs from its recorded hash`);
  }
  return { step, folder: target, best: manifest.best };
}

/**
 * The newest checkpoint that verifies. Damaged ones are passed over and reported to `note`; when there are
 * checkpoints and none verifies, that is a CheckpointError, never a silent start from nothing.
 */
export async function newestCheckpoint(
  folder: string,
  note: (line: string) => void,
): Promise<Checkpoint | null> {
  const steps = await checkpointSteps(folder);
  for (const step of [...steps].reverse()) {
    try {
      return await verifyCheckpoint(folder, step);
    } catch (error) {
      if (!(error instanceof CheckpointError)) throw error;
      note(`${error.message}; going back to the one before`);
    }
  }
  if (steps.length === 0) return null;
  throw new CheckpointError(`none of the ${steps.length} checkpoint(s) in ${folder} can be loaded`, {
    hint: 'restore one from a copy, or start again in a new run folder',
  });
}

/** Removes all but the newest `keep` checkpoints and the best one that each of those would go back to. */
export async function pruneCheckpoints(folder: string, keep: number): Promise<void> {
  const steps = await checkpointSteps(folder);
  const kept = new Set(steps.slice(-keep));
  for (const step of [...kept]) {
    try {
      const best = (await readManifest(folder, step)).best;
      if (best !== null) kept.add(best.step);
    } catch {
      // A damaged checkpoint names no best one; whoever loads it gets the full report from verifyCheckpoint.
    }
  }
  for (const step of steps) {
    if (!kept.has(step)) await rm(join(folder, nameOfStep(step)), { recursive: true, force: true });
  }
}

/** Removes the checkpoints of later steps, the newest first: at any moment those that are left have no gap. */
export async function removeCheckpointsAfter(folder: string, step: number): Promise<void> {
  const later = (await checkpointSteps(folder)).filter((one) => one > step).reverse();
  try {
    for (const one of later) await rm(join(folder, nameOfStep(one)), { recursive: true, force: true });
  } catch (error) {
    throw asStorageError(error, `removing checkpoints of ${folder}`);
  }
}

async function readManifest(folder: string, step: number): Promise<Manifest> {
  return manifestSchema.parse(JSON.parse(await readFile(join(folder, nameOfStep(step), MANIFEST), 'utf8')));
}

/** Tidies what interrupted writes left behind. Only for the holder of the run's lock. */
export async function removeUnfinished(folder: string): Promise<void> {
  try {
    const names = await readdir(folder);
    for (const name of names) {
      const unfinished = /^\.(step-\d+)\.tmp-.*?(-old)?$/.exec(name);
      if (unfinished === null) continue;
      const [, target = '', old] = unfinished;
      // A crash between the two renames of a replacement leaves only the old folder, under this name.
      if (old !== undefined && !names.includes(target))
        await rename(join(folder, name), join(folder, target));
      else await rm(join(folder, name), { recursive: true, force: true });
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw asStorageError(error, `tidying ${folder}`);
  }
}
