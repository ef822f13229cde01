import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Task } from './protocol.ts';

/** A run measures its policy before the first step and after the last; with few pictures that is short. */
const VALIDATION_PICTURES = 16;

/**
 * Writes a data set of just the pictures that the run needs, so that both contestants see the same ones and start
 * quickly.
 *
 * @returns path of the task's file
 */
export async function writeTask(folder: string, source: string, task: Omit<Task, 'data'>): Promise<string> {
  const data = join(folder, 'data');
  await mkdir(data);
  const lines = (await readFile(join(source, 'records.jsonl'), 'utf8')).split('\n').filter(Boolean);
  const of = (split: string, count: number): string[] =>
    lines.filter((line) => (JSON.parse(line) as { split: string }).split === split).slice(0, count);
  const train = of('train', task.steps * task.prompts);
  if (train.length < task.steps * task.prompts)
    throw new RangeError(
      `${source} has ${train.length} training pictures, ${task.steps} steps of ${task.prompts} need ${task.steps * task.prompts}`,
    );
  await writeFile(
    join(data, 'records.jsonl'),
    [...train, ...of('validation', VALIDATION_PICTURES), ''].join('\n'),
  );
  await symlink(resolve(source, 'images'), join(data, 'images'));
  await writeFile(join(data, 'dataset.json'), await readFile(join(source, 'dataset.json')));
  const path = join(folder, 'task.json');
  await writeFile(path, JSON.stringify({ ...task, data } satisfies Task));
  return path;
}
