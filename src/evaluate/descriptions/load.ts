import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { asStorageError, InputError, listNames, readAllJsonl } from '../../core/index.ts';
import type { ImageRecord } from '../../data/index.ts';
import { type Description, descriptionRowSchema } from './description.ts';

/**
 * Reads descriptions: predictions.jsonl, rows {id, text, score?, grade?, mos?, image?, distortions?}, or
 * conversations in the ShareGPT or LLaVA form, as JSON Lines or as one JSON array. Ids that come twice and rows
 * of another form are an InputError.
 */
export async function loadDescriptions(path: string): Promise<Description[]> {
  const descriptions = path.endsWith('.json') ? await readArray(path) : await readMaybeArray(path);
  if (descriptions.length === 0) throw new InputError(`${path} holds no descriptions`, { hint: ROW_HINT });
  const ids = descriptions.map(({ id }) => id);
  const twice = [...new Set(ids.filter((id, at) => ids.indexOf(id) !== at))];
  if (twice.length > 0) {
    throw new InputError(`${path} holds ${twice.length} id(s) more than once: ${listNames(twice)}`, {
      hint: 'give one description per picture; keep several models or samples in files of their own',
    });
  }
  return descriptions;
}

const ROW_HINT = 'a row has an id and a text, or an id and conversations';

/** Some publishers call an array of JSON "jsonl". */
async function readMaybeArray(path: string): Promise<Description[]> {
  const start = await textOf(path);
  if (/^\s*\[/.test(start)) return parseArray(start, path);
  try {
    return await readAllJsonl(path, descriptionRowSchema);
  } catch (error) {
    if (!(error instanceof InputError) || error.hint !== undefined) throw error;
    throw new InputError(error.message, { hint: ROW_HINT, cause: error });
  }
}

const readArray = async (path: string): Promise<Description[]> => parseArray(await textOf(path), path);

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw asStorageError(error, `reading ${path}`);
  }
}

function parseArray(text: string, path: string): Description[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InputError(`${path} is not JSON: ${(error as Error).message}`, {
      hint: 'give JSON Lines (one object a line) or one JSON array',
    });
  }
  const parsed = z.array(descriptionRowSchema).safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new InputError(
    `${path}: row ${String(issue?.path[0] ?? '(top)')} is no description: ${issue?.message}`,
    {
      hint: ROW_HINT,
    },
  );
}

/**
 * Adds what a data set knows about the pictures, by id: MOS, picture and, for generated pictures, distortions.
 * Ids that the data set lacks are an InputError.
 */
export function withTruth(
  descriptions: readonly Description[],
  records: readonly ImageRecord[],
): Description[] {
  const byId = new Map(records.map((record) => [record.id, record]));
  const unknown = descriptions.filter(({ id }) => !byId.has(id)).map(({ id }) => id);
  if (unknown.length > 0) {
    throw new InputError(
      `the data set lacks ${unknown.length} of ${descriptions.length} ids: ${listNames(unknown)}`,
      {
        hint: 'descriptions and data set must share their ids',
      },
    );
  }
  return descriptions.map((description) => {
    const { mos, image, distortions, source } = byId.get(description.id) as ImageRecord;
    // No distortion listed means pristine in generated sets, and that nobody knows in imported ones.
    const known = source === 'imported' && distortions.length === 0 ? description.distortions : distortions;
    return { ...description, mos: mos ?? description.mos, image, distortions: known };
  });
}
