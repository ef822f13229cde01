import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { asStorageError, InputError, writeFileAtomic, writeJsonl } from '../../core/index.ts';
import { arrayElements } from './json-array.ts';
import { type Origin, readOrigin, writeWithOrigin } from './origin.ts';

/** AgentGym's files: AgentTraj holds whole episodes, AgentEval tasks alone. */

const messageSchema = z.discriminatedUnion('from', [
  z.strictObject({
    from: z.literal('human'),
    loss: z.union([z.null(), z.literal(false)], {
      error: 'what the agent did not write is never learned from',
    }),
    value: z.string(),
  }),
  z.strictObject({
    from: z.literal('gpt'),
    loss: z.boolean({ error: 'an agent message needs true or false' }),
    value: z.string(),
  }),
]);

const itemId = z
  .string()
  .regex(/^\S+_\d+$/, 'must be the name of an environment, "_" and the number of a task: "textcraft_12"');

/** An episode. Instructions and acknowledgement, then observation and action in turn. */
export const trajectorySchema = z.strictObject({
  conversations: z
    .array(messageSchema)
    .min(2)
    .superRefine((messages, context) => {
      const wrong = messages.findIndex(({ from }, i) => from !== (i % 2 === 0 ? 'human' : 'gpt'));
      if (wrong < 0) return;
      const expected = wrong % 2 === 0 ? 'human' : 'gpt';
      context.addIssue({
        code: 'custom',
        path: [wrong],
        message: `human and gpt must take turns, human first: expected ${expected}, got ${messages[wrong]?.from}`,
      });
    }),
  item_id: itemId,
  /** Of the episode, where it was recorded. */
  reward: z.number().optional(),
});
export type Trajectory = z.infer<typeof trajectorySchema>;

/** A task to evaluate on. */
export const evaluationItemSchema = z.strictObject({
  conversations: z.union([z.null(), z.array(messageSchema).max(0)]).default(null),
  item_id: itemId,
});
export type EvaluationItem = z.infer<typeof evaluationItemSchema>;

export const itemIdOf = (family: string, task: number): string => `${family}_${task}`;

/** The environment's name and the task of an item id. InputError where it is not one. */
export function taskOfItem(id: string): { family: string; task: number } {
  const [, family, task] = /^(\S+)_(\d+)$/.exec(id) ?? [];
  if (family === undefined || task === undefined) {
    throw new InputError(`item id ${id}`, { hint: 'an item id is a name, "_" and a number: "textcraft_12"' });
  }
  return { family, task: Number(task) };
}

function* elementsOf(path: string, text: string): Generator<{ text: string; line: number }> {
  if (!path.endsWith('.jsonl')) {
    yield* arrayElements(path, text);
    return;
  }
  for (const [i, row] of text.split('\n').entries()) {
    if (row.trim() !== '') yield { text: row, line: i + 1 };
  }
}

function parseElement<T>(path: string, line: number, text: string, schema: z.ZodType<T>): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InputError(`${path}:${line} is not JSON: ${(error as Error).message}`, {
      hint: 'an interrupted write may have cut the file: write it again',
    });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(
    (issue) => `${issue.path.join('.') || '(item)'}: ${issue.message}`,
  );
  throw new InputError(`${path}:${line} is no valid item: ${problems.join('; ')}`, {
    hint: 'mend or remove the item that begins on this line',
  });
}

async function readItems<T>(path: string, schema: z.ZodType<T>): Promise<ItemFile<T>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw asStorageError(error, `reading ${path}`);
  }
  const items: T[] = [];
  for (const element of elementsOf(path, text)) {
    items.push(parseElement(path, element.line, element.text, schema));
  }
  return { items, origin: await readOrigin(path, text) };
}

function writeItems(path: string, items: readonly unknown[], origin: Origin): Promise<void> {
  return writeWithOrigin(path, origin, () => {
    if (path.endsWith('.jsonl')) return writeJsonl(path, items);
    return writeFileAtomic(path, `[\n${items.map((item) => JSON.stringify(item)).join(',\n')}\n]\n`);
  });
}

export interface ItemFile<T> {
  items: T[];
  /** Where the file's content comes from; null where nothing is recorded. */
  origin: Origin | null;
}

/**
 * Reads an AgentTraj file: one JSON array, or JSON Lines by the ending .jsonl. A bad item is an InputError that names
 * file and line.
 */
export const readTrajectories = (path: string): Promise<ItemFile<Trajectory>> =>
  readItems(path, trajectorySchema);

/** Reads an AgentEval file, as readTrajectories does. */
export const readEvaluationItems = (path: string): Promise<ItemFile<EvaluationItem>> =>
  readItems(path, evaluationItemSchema);

/** Writes an AgentTraj file (JSON Lines by the ending .jsonl), and beside it where the episodes come from. */
export const writeTrajectories = (
  path: string,
  trajectories: readonly Trajectory[],
  origin: Origin,
): Promise<void> => writeItems(path, trajectories, origin);

/** Writes an AgentEval file, as writeTrajectories does. */
export const writeEvaluationItems = (
  path: string,
  items: readonly EvaluationItem[],
  origin: Origin,
): Promise<void> => writeItems(path, items, origin);
