import { open, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import {
  asStorageError,
  ConfigError,
  InputError,
  makeFolder,
  textIfPresent,
  writeFileAtomic,
} from '../core/index.ts';
import { type Prediction, predictionSchema } from './predictions.ts';
import { type EvaluationIdentity, evaluationIdentitySchema } from './run-identity.ts';

export const IDENTITY_FILE = 'evaluation.json';
export const PREDICTIONS_FILE = 'predictions.jsonl';

/** The predictions of one evaluation as they come. */
export interface PredictionRows {
  /** Answered before, by image id. */
  readonly kept: ReadonlyMap<string, Prediction>;
  /** Durable when it returns. */
  append(rows: readonly Prediction[]): Promise<void>;
  close(): Promise<void>;
}

/** Rows that are kept in memory alone. */
export const rowsInMemory = (): PredictionRows => ({
  kept: new Map(),
  append: async () => undefined,
  close: async () => undefined,
});

/**
 * Opens the folder of an evaluation, to begin it or to continue one that was stopped at any moment. A row that was
 * cut by that is removed. ConfigError where the folder holds another evaluation: what differs is named.
 */
export async function openRows(folder: string, identity: EvaluationIdentity): Promise<PredictionRows> {
  await makeFolder(folder);
  const recorded = await readIdentity(join(folder, IDENTITY_FILE));
  const path = join(folder, PREDICTIONS_FILE);
  if (recorded === null) {
    await refuseForeignRows(path);
    await writeFileAtomic(join(folder, IDENTITY_FILE), `${JSON.stringify(identity, null, 2)}\n`);
  } else {
    assertSame(folder, recorded, identity);
  }
  const kept = await keptRows(path);
  try {
    const file = await open(path, 'a');
    return {
      kept,
      append: async (rows) => {
        try {
          await file.appendFile(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
          await file.sync();
        } catch (error) {
          throw asStorageError(error, `writing ${path}`);
        }
      },
      close: () => file.close(),
    };
  } catch (error) {
    throw asStorageError(error, `opening ${path}`);
  }
}

async function readIdentity(path: string): Promise<EvaluationIdentity | null> {
  const text = await textIfPresent(path);
  if (text === null) return null;
  try {
    return evaluationIdentitySchema.parse(JSON.parse(text));
  } catch (error) {
    throw new ConfigError(`${path} is not the record of an evaluation`, {
      hint: 'choose another output folder',
      cause: error,
    });
  }
}

/** Predictions without a record of what made them cannot be continued, and are not to be lost. */
async function refuseForeignRows(path: string): Promise<void> {
  if ((await textIfPresent(path)) === null) return;
  throw new ConfigError(`${path} is there already, without ${IDENTITY_FILE}: what made it is unknown`, {
    hint: 'choose another output folder, or move it away',
  });
}

const flat = (value: object, path = ''): [string, unknown][] =>
  Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === 'object' && inner !== null
      ? flat(inner, `${path}${key}.`)
      : [[`${path}${key}`, inner] as [string, unknown]],
  );

/** ConfigError that names what differs, unless both are equal. Folders may move: the path of the data does not count. */
function assertSame(folder: string, recorded: EvaluationIdentity, wanted: EvaluationIdentity): void {
  const [before, now] = [new Map(flat(recorded)), new Map(flat(wanted))];
  const show = (value: unknown): string => String(value ?? '(absent)').slice(0, 60);
  const lines = [...new Set([...before.keys(), ...now.keys()])]
    .filter((key) => key !== 'data.dataset' && before.get(key) !== now.get(key))
    .map((key) => `  ${key}: its rows are of ${show(before.get(key))}, asked for is ${show(now.get(key))}`);
  if (lines.length === 0) return;
  throw new ConfigError(
    `${folder} holds an evaluation that differs in ${lines.length} thing(s):\n${lines.join('\n')}`,
    { hint: 'repeat it with what it was started with, or choose another output folder' },
  );
}

/** Rows that were written whole. The file is cut behind the last of them. */
async function keptRows(path: string): Promise<Map<string, Prediction>> {
  const text = (await textIfPresent(path)) ?? '';
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole.length < text.length) await truncate(path, Buffer.byteLength(whole));
  const kept = new Map<string, Prediction>();
  whole.split('\n').forEach((line, i) => {
    if (line === '') return;
    const row = predictionSchema.safeParse(parseLine(line, `${path}:${i + 1}`));
    if (!row.success || kept.has(row.data.id)) {
      throw new InputError(
        row.success
          ? `${path}:${i + 1} answers image ${row.data.id} a second time`
          : `${path}:${i + 1} is no row of predictions`,
        { hint: 'the file was changed by somebody else: choose another output folder' },
      );
    }
    kept.set(row.data.id, row.data);
  });
  return kept;
}

function parseLine(line: string, place: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new InputError(`${place} is not JSON`, {
      hint: 'the file was changed by somebody else: choose another output folder',
      cause: error,
    });
  }
}
