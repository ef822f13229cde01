import { z } from 'zod';
import { InputError, listNames, readAllJsonl } from '../../core/index.ts';
import type { ImageRecord } from '../records.ts';

/** What an export needs of a distilled row; the rest of the row is its own affair. */
const answerSchema = z.looseObject({
  id: z.string().min(1),
  response: z.string().min(1),
  accepted: z.boolean().optional(),
});

/** Accepted responses by image id, in the order of the file. Ids that the data set lacks are an InputError. */
export async function readAnswers(
  path: string,
  records: readonly ImageRecord[],
): Promise<ReadonlyMap<string, string[]>> {
  const known = new Set(records.map(({ id }) => id));
  const answers = new Map<string, string[]>();
  const strangers: string[] = [];
  for (const { id, response, accepted } of await readAllJsonl(path, answerSchema)) {
    if (accepted === false) continue;
    if (!known.has(id)) strangers.push(id);
    const same = answers.get(id);
    if (same === undefined) answers.set(id, [response]);
    else same.push(response);
  }
  if (strangers.length > 0) {
    throw new InputError(
      `${path} answers about ${strangers.length} image(s) that the data set lacks: ${listNames(strangers)}`,
      { hint: 'give the data set that was distilled' },
    );
  }
  if (answers.size === 0)
    throw new InputError(`${path} holds no accepted answer`, { hint: 'give accepted.jsonl' });
  return answers;
}
