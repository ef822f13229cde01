import { createHash } from 'node:crypto';
import { open, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import {
  asStorageError,
  ConfigError,
  InputError,
  makeFolder,
  textIfPresent,
  writeFileAtomic,
  writeJsonl,
} from '../../../core/index.ts';
import { JUDGE_AXES, PAIR_VERDICTS } from './reply.ts';
import type { DescriptionSet, JudgeTask } from './tasks.ts';

export const JUDGING_FILE = 'judging.json';
export const JUDGEMENTS_FILE = 'judgements.jsonl';

const axes = <T extends z.ZodType>(value: T) =>
  z.strictObject(
    Object.fromEntries(JUDGE_AXES.map((axis) => [axis, value])) as Record<(typeof JUDGE_AXES)[number], T>,
  );

/** A judge's reply to one task. */
export const judgementSchema = z.strictObject({
  key: z.string(),
  set: z.string(),
  id: z.string(),
  sample: z.int().min(0),
  swapped: z.boolean(),
  /** 'unparsable': it holds no grades. 'refused': the judge declined. Neither has a grade, and neither is asked again. */
  status: z.enum(['ok', 'unparsable', 'refused']),
  grades: axes(z.int().min(0)).optional(),
  verdicts: axes(z.enum(PAIR_VERDICTS)).optional(),
  problem: z.string().optional(),
  reply: z.string(),
  finishReason: z.string(),
});
export type Judgement = z.infer<typeof judgementSchema>;

/** What decides the replies. A judging is continued only under the same identity. */
export interface JudgingIdentity {
  judge: { address: string; model: string };
  prompt: { id: string; version: number; hash: string };
  mode: string;
  highest: number;
  samples: number;
  temperature: number;
  maxTokens: number;
  seed: number;
  pictures: boolean;
  sets: { name: string; model: string | null; sha256: string }[];
}

/** SHA-256 of what is shown and known: another text or truth is another judging. */
export const hashOfSet = ({ descriptions }: DescriptionSet): string =>
  createHash('sha256')
    .update(
      descriptions
        .map(({ id, text, mos, distortions }) => JSON.stringify([id, text, mos, distortions]))
        .join('\n'),
    )
    .digest('hex');

export interface Journal {
  readonly kept: ReadonlyMap<string, Judgement>;
  /** In the file when it returns: a killed process keeps it. */
  append(judgement: Judgement): Promise<void>;
  /** Puts the rows into the order of the tasks, so that an interrupted judging ends with the same file. */
  finish(tasks: readonly JudgeTask[]): Promise<Judgement[]>;
  close(): Promise<void>;
}

const inOrder = (rows: ReadonlyMap<string, Judgement>, tasks: readonly JudgeTask[]): Judgement[] =>
  tasks.flatMap(({ key }) => rows.get(key) ?? []);

/** A journal that nobody keeps. */
export function journalInMemory(): Journal {
  const rows = new Map<string, Judgement>();
  return {
    kept: rows,
    append: async (row) => void rows.set(row.key, row),
    finish: async (tasks) => inOrder(rows, tasks),
    close: async () => undefined,
  };
}

/** Opens a folder to begin a judging in it, or to continue the same one. Another one's folder is a ConfigError. */
export async function openJournal(folder: string, identity: JudgingIdentity): Promise<Journal> {
  await makeFolder(folder);
  const path = join(folder, JUDGEMENTS_FILE);
  await claim(folder, path, identity);
  const rows = await keptRows(path);
  const file = await open(path, 'a').catch((error: unknown) => {
    throw asStorageError(error, `opening ${path}`);
  });
  // One write after another: lines of two replies must not mix.
  let last: Promise<unknown> = Promise.resolve();
  return {
    kept: rows,
    append(row) {
      rows.set(row.key, row);
      const write = last.then(() => file.appendFile(`${JSON.stringify(row)}\n`));
      last = write.catch(() => undefined);
      return write.catch((error: unknown) => {
        throw asStorageError(error, `writing ${path}`);
      });
    },
    async finish(tasks) {
      await last;
      const ordered = inOrder(rows, tasks);
      await writeJsonl(path, ordered);
      return ordered;
    },
    async close() {
      await last;
      await file.close();
    },
  };
}

async function claim(folder: string, rows: string, identity: JudgingIdentity): Promise<void> {
  const path = join(folder, JUDGING_FILE);
  const wanted = `${JSON.stringify(identity, null, 2)}\n`;
  const recorded = await textIfPresent(path);
  if (recorded === wanted) return;
  const hint = 'choose another output folder, or repeat the command that it was started with';
  if (recorded !== null) {
    const before = recorded.split('\n');
    const differing = wanted.split('\n').filter((line) => !before.includes(line));
    throw new ConfigError(
      `${folder} holds another judging; asked for is now: ${differing.map((line) => line.trim()).join(' ')}`,
      { hint },
    );
  }
  if ((await textIfPresent(rows)) !== null) {
    throw new ConfigError(`${rows} is there already, without ${JUDGING_FILE}: what made it is unknown`, {
      hint,
    });
  }
  await writeFileAtomic(path, wanted);
}

/** Rows that were written whole; what a killed process began is cut off. */
async function keptRows(path: string): Promise<Map<string, Judgement>> {
  const text = (await textIfPresent(path)) ?? '';
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole.length < text.length) await truncate(path, Buffer.byteLength(whole));
  const rows = new Map<string, Judgement>();
  whole.split('\n').forEach((line, at) => {
    if (line === '') return;
    const row = judgementIn(line);
    if (row === undefined || rows.has(row.key)) {
      throw new InputError(
        `${path}:${at + 1} ${row === undefined ? 'is no judgement' : `repeats ${row.key}`}`,
        {
          hint: 'the file was changed by somebody else: choose another output folder',
        },
      );
    }
    rows.set(row.key, row);
  });
  return rows;
}

function judgementIn(line: string): Judgement | undefined {
  try {
    return judgementSchema.safeParse(JSON.parse(line)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
