import { close, fsync, fsyncSync, openSync, writeSync } from 'node:fs';
import { readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { asStorageError, InputError } from '../core/index.ts';
import type { TeacherAnswer } from './teacher.ts';

export const ANSWERS_FILE = 'answers.jsonl';

/** One answer as it came, one line of answers.jsonl. */
export const journalLineSchema = z.strictObject({
  id: z.string().min(1),
  sample: z.int().min(0),
  text: z.string(),
  finishReason: z.string().optional(),
  withoutText: z.enum(['refused', 'empty']).optional(),
  tokens: z
    .strictObject({
      prompt: z.number().min(0),
      cachedPrompt: z.number().min(0),
      completion: z.number().min(0),
    })
    .optional(),
  model: z.string().optional(),
});
export type JournalLine = z.infer<typeof journalLineSchema>;

/** Answers by image and sample. */
export interface AnswerStore {
  get(id: string, sample: number): TeacherAnswer | undefined;
  /** Once it returns, the answer outlives this process. */
  add(id: string, sample: number, answer: TeacherAnswer): void;
  answers(): Iterable<TeacherAnswer>;
  /** Answers that were there when the store was opened. */
  readonly kept: number;
  close(): Promise<void>;
}

const keyOf = (id: string, sample: number): string => `${sample} ${id}`;

/** Answers of a teacher that costs nothing to ask again. */
export function answersInMemory(): AnswerStore {
  const answers = new Map<string, TeacherAnswer>();
  return {
    get: (id, sample) => answers.get(keyOf(id, sample)),
    add: (id, sample, answer) => void answers.set(keyOf(id, sample), answer),
    answers: () => answers.values(),
    kept: 0,
    close: async () => undefined,
  };
}

/** A power cut loses the answers of this long at most; a killed process loses none. */
const SYNC_EVERY_MS = 1000;

const EDITED = 'the file was changed by somebody else: mend that line, or choose another output folder';

/**
 * Opens the append-only journal of a folder. Each answer is one line, handed to the system by one call before
 * anything else happens with it, so that kill -9 loses nothing; the device is synced every second and at the end. A
 * last line that a crash has cut is removed. A line that is no answer, or answers a second time, is an InputError.
 */
export async function openJournal(folder: string): Promise<AnswerStore> {
  const path = join(folder, ANSWERS_FILE);
  const { answers, end, size } = await readJournal(path);
  if (end < size) {
    try {
      await truncate(path, end);
    } catch (error) {
      throw asStorageError(error, `cutting ${path}`);
    }
  }
  const kept = answers.size;
  let descriptor: number;
  try {
    descriptor = openSync(path, 'a');
  } catch (error) {
    throw asStorageError(error, `opening ${path}`);
  }
  let dirty = false;
  let failed: unknown;
  let syncing: Promise<void> | undefined;
  const timer = setInterval(() => {
    if (!dirty || syncing !== undefined) return;
    dirty = false;
    syncing = promisify(fsync)(descriptor)
      .catch((error: unknown) => {
        failed ??= error;
      })
      .finally(() => {
        syncing = undefined;
      });
  }, SYNC_EVERY_MS);
  timer.unref();
  return {
    get: (id, sample) => answers.get(keyOf(id, sample)),
    add: (id, sample, answer) => {
      if (failed !== undefined) throw asStorageError(failed, `writing ${path}`);
      const { planted: _planted, ...kept } = answer;
      const bytes = Buffer.from(`${JSON.stringify({ id, sample, ...kept } satisfies JournalLine)}\n`);
      try {
        // A disk that fills up takes a part of the line first and refuses the rest on the next write.
        let written = 0;
        while (written < bytes.length) written += writeSync(descriptor, bytes, written);
      } catch (error) {
        failed ??= error;
        throw asStorageError(error, `writing ${path}`);
      }
      dirty = true;
      answers.set(keyOf(id, sample), answer);
    },
    answers: () => answers.values(),
    kept,
    close: async () => {
      clearInterval(timer);
      await syncing;
      try {
        fsyncSync(descriptor);
      } catch (error) {
        throw asStorageError(error, `writing ${path}`);
      } finally {
        await promisify(close)(descriptor);
      }
    },
  };
}

/** The answers in the journal of a folder, for looking only: nothing is mended, and there may be no journal. */
export async function readAnswers(folder: string): Promise<Pick<AnswerStore, 'get' | 'answers'>> {
  const { answers } = await readJournal(join(folder, ANSWERS_FILE));
  return { get: (id, sample) => answers.get(keyOf(id, sample)), answers: () => answers.values() };
}

/** The whole lines; `end` is where the last of them ends, `size` where the file ends, in bytes. */
async function readJournal(
  path: string,
): Promise<{ answers: Map<string, TeacherAnswer>; end: number; size: number }> {
  const answers = new Map<string, TeacherAnswer>();
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { answers, end: 0, size: 0 };
    throw asStorageError(error, `reading ${path}`);
  }
  const end = bytes.lastIndexOf(0x0a) + 1;
  let number = 0;
  for (let start = 0; start < end; ) {
    const stop = bytes.indexOf(0x0a, start);
    const line = bytes.toString('utf8', start, stop);
    start = stop + 1;
    number++;
    if (line.trim() === '') continue;
    const { id, sample, ...rest } = parseLine(line, `${path}:${number}`);
    const key = keyOf(id, sample);
    if (answers.has(key)) {
      throw new InputError(`${path}:${number} answers question ${sample} about image ${id} a second time`, {
        hint: EDITED,
      });
    }
    answers.set(key, rest as TeacherAnswer);
  }
  return { answers, end, size: bytes.length };
}

function parseLine(line: string, place: string): JournalLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new InputError(`${place} is not JSON`, { hint: EDITED, cause: error });
  }
  const parsed = journalLineSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new InputError(`${place} is no answer of a teacher`, { hint: EDITED });
}
