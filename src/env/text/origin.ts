import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { z } from 'zod';
import { asStorageError, InputError, sha256OfFile, writeFileAtomic } from '../../core/index.ts';

/**
 * Where a file of trajectories comes from. AgentTraj has no place for it, and its readers take whole files as they
 * are, so it stands in a file beside: "train.json.origin.json".
 */
export const originSchema = z.strictObject({
  source: z.string().min(1).describe('who or what made the episodes: an expert, a model, a published set'),
  licence: z.string().min(1).describe('as its authors put it'),
  /** Of the file, so that an origin is never read for another content. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
export type Origin = Omit<z.infer<typeof originSchema>, 'sha256'>;

export const originPath = (path: string): string => `${path}.origin.json`;

/**
 * Writes a file by `write`, and its origin beside it. An interruption leaves the file without an origin, never with
 * another file's. InputError, and nothing written, where source or licence is missing.
 */
export async function writeWithOrigin(
  path: string,
  { source, licence }: Origin,
  write: () => Promise<void>,
): Promise<void> {
  if (source === '' || licence === '') {
    throw new InputError(`${path} is not written: its ${source === '' ? 'source' : 'licence'} is not named`, {
      hint: 'say who made the episodes and under which licence they may be used',
    });
  }
  try {
    await rm(originPath(path), { force: true });
  } catch (error) {
    throw asStorageError(error, `replacing ${originPath(path)}`);
  }
  await write();
  const record = { source, licence, sha256: await sha256OfFile(path) };
  await writeFileAtomic(originPath(path), `${JSON.stringify(record, null, 2)}\n`);
}

/** The origin recorded for a file with this content; null where none is. InputError where it is another file's. */
export async function readOrigin(path: string, content: string): Promise<Origin | null> {
  let text: string;
  try {
    text = await readFile(originPath(path), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw asStorageError(error, `reading ${originPath(path)}`);
  }
  const hint = `write ${path} again, or remove ${originPath(path)}`;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InputError(`${originPath(path)} is not JSON: ${(error as Error).message}`, { hint });
  }
  const parsed = originSchema.safeParse(value);
  if (!parsed.success) {
    throw new InputError(`${originPath(path)} is no record of an origin: ${z.prettifyError(parsed.error)}`, {
      hint,
    });
  }
  const { source, licence, sha256 } = parsed.data;
  if (createHash('sha256').update(content).digest('hex') !== sha256) {
    throw new InputError(`${path} is not the file that ${originPath(path)} describes: its content differs`, {
      hint,
    });
  }
  return { source, licence };
}
