import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { ConfigError, textIfPresent, writeFileAtomic } from '../core/index.ts';
import { ANSWERS_FILE } from './journal.ts';
import type { Teacher, TeachingRecord } from './teacher.ts';

export const IDENTITY_FILE = 'distill.json';

/**
 * What decides the answers of a journal. Filters, selection, limits and budgets are not part of it: they may be
 * changed from one run to the next, and the answers that are there are judged anew.
 */
export const distillIdentitySchema = z.strictObject({
  teacher: z.strictObject({
    name: z.string(),
    version: z.string(),
    seed: z.union([z.int(), z.string()]).nullable(),
    settings: z.record(z.string(), z.unknown()),
  }),
  data: z.strictObject({ images: z.int(), sha256: z.string() }),
});
export type DistillIdentity = z.infer<typeof distillIdentitySchema>;

/** SHA-256 of lines [id, image, MOS, distortions], in the order of the records: what a teacher is told. */
export function dataHash(records: readonly TeachingRecord[]): string {
  const hash = createHash('sha256');
  for (const { id, image, mos, distortions = null } of records) {
    hash.update(`${JSON.stringify([id, image, mos, distortions])}\n`);
  }
  return hash.digest('hex');
}

export const distillIdentity = (teacher: Teacher, records: readonly TeachingRecord[]): DistillIdentity => ({
  teacher: {
    name: teacher.name,
    version: teacher.version,
    seed: teacher.seed,
    settings: { ...teacher.settings },
  },
  data: { images: records.length, sha256: dataHash(records) },
});

/** Leaves of an object by dotted path. */
const flat = (value: object, path = ''): [string, unknown][] =>
  Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === 'object' && inner !== null
      ? flat(inner, `${path}${key}.`)
      : [[`${path}${key}`, inner] as [string, unknown]],
  );

function differences(before: DistillIdentity, now: DistillIdentity): string[] {
  const [old, current] = [new Map(flat(before)), new Map(flat(now))];
  const show = (value: unknown): string => String(value ?? '(absent)').slice(0, 60);
  return [...new Set([...old.keys(), ...current.keys()])]
    .filter((key) => old.get(key) !== current.get(key))
    .map((key) => `${key} was ${show(old.get(key))} and is ${show(current.get(key))}`);
}

/**
 * Writes the identity into a folder that has none; a ConfigError that says what differs where the folder holds the
 * answers to other questions, or answers of which nobody knows the questions.
 */
export async function claimFolder(folder: string, identity: DistillIdentity): Promise<void> {
  const path = join(folder, IDENTITY_FILE);
  const text = await textIfPresent(path);
  if (text === null) {
    if ((await textIfPresent(join(folder, ANSWERS_FILE))) !== null) {
      throw new ConfigError(
        `${folder} holds ${ANSWERS_FILE} without ${IDENTITY_FILE}: what was asked is unknown`,
        {
          hint: 'choose another output folder, or read that file with --teacher replay',
        },
      );
    }
    await writeFileAtomic(path, `${JSON.stringify(identity, null, 2)}\n`);
    return;
  }
  let recorded: DistillIdentity;
  try {
    recorded = distillIdentitySchema.parse(JSON.parse(text));
  } catch (error) {
    throw new ConfigError(`${path} is not the record of a distillation`, {
      hint: 'choose another output folder',
      cause: error,
    });
  }
  const lines = differences(recorded, identity);
  if (lines.length === 0) return;
  const more = lines.length > 3 ? `, and ${lines.length - 3} more` : '';
  throw new ConfigError(
    `${folder} holds answers to other questions: ${lines.slice(0, 3).join('; ')}${more}`,
    { hint: 'repeat it with what it was started with, or choose another output folder' },
  );
}

/** A teacher whose answers cost nothing must not write over a set that was paid for. */
export async function refuseJournal(folder: string): Promise<void> {
  if ((await textIfPresent(join(folder, IDENTITY_FILE))) === null) return;
  throw new ConfigError(`${folder} holds the answers of a model behind an address`, {
    hint: 'choose another output folder',
  });
}
