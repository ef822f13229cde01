import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import { asStorageError, CheckpointError, writeFileAtomic } from '../core/index.ts';
import { SafetensorsFile, type TensorData } from './safetensors.ts';
import { writeSafetensors } from './safetensors-writer.ts';

/** Arrays by group and name, for example `{firstMoment: {'lm_head.weight': ...}}`. Groups may not hold "/". */
export type TensorGroups = Record<string, Record<string, Float32Array>>;

const TENSORS_FILE = 'training-state.safetensors';
const STATE_FILE = 'training-state.json';

const SPECIAL_NUMBERS = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['-0', -0],
]);

/** JSON has no NaN, no infinities and no -0; they are written as `{"$number": "NaN"}` and so on. */
function encodeNumber(_key: string, value: unknown): unknown {
  if (typeof value !== 'number') return value;
  if (Object.is(value, -0)) return { $number: '-0' };
  return Number.isFinite(value) ? value : { $number: String(value) };
}

function decodeNumber(_key: string, value: unknown): unknown {
  const name = (value as { $number?: unknown } | null)?.$number;
  return typeof name === 'string' ? (SPECIAL_NUMBERS.get(name) ?? value) : value;
}

/**
 * Writes what a run needs besides its weights to continue exactly: arrays (optimizer moments) as F32
 * safetensors and plain data (step, random states, data cursor, controllers) as JSON. Both are exact to the
 * bit. Meant for the inside of a checkpoint folder, which makes the two files one.
 */
export async function saveTrainingState(
  folder: string,
  tensors: TensorGroups,
  state: Record<string, unknown>,
): Promise<void> {
  const flat = new Map<string, TensorData>();
  for (const [group, arrays] of Object.entries(tensors)) {
    if (group === '' || group.includes('/')) {
      throw new RangeError(`saveTrainingState: got group "${group}", allowed is a name without "/"`);
    }
    for (const [name, data] of Object.entries(arrays)) {
      flat.set(`${group}/${name}`, { shape: [data.length], data });
    }
  }
  await writeSafetensors(join(folder, TENSORS_FILE), flat);
  await writeFileAtomic(join(folder, STATE_FILE), `${JSON.stringify(state, encodeNumber, 2)}\n`);
}

/** Reads what `saveTrainingState` wrote. A state that the schema refuses is a CheckpointError. */
export async function loadTrainingState<T>(
  folder: string,
  schema: z.ZodType<T>,
): Promise<{ tensors: TensorGroups; state: T }> {
  const path = join(folder, STATE_FILE);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw asStorageError(error, `reading ${path}`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text, decodeNumber);
  } catch (error) {
    throw new CheckpointError(`${path} is not JSON: ${(error as Error).message}`, { cause: error });
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      (issue) => `${issue.path.join('.') || '(top)'}: ${issue.message}`,
    );
    throw new CheckpointError(`${path} is not the state of this stage: ${problems.join('; ')}`, {
      hint: 'the checkpoint was written by another stage or version; start in a new run folder',
    });
  }
  return { tensors: await readGroups(join(folder, TENSORS_FILE)), state: parsed.data };
}

async function readGroups(path: string): Promise<TensorGroups> {
  // Without prototypes: names come from a file.
  const groups: TensorGroups = Object.create(null);
  const file = await SafetensorsFile.open(path);
  try {
    for (const name of file.tensors.keys()) {
      const slash = name.indexOf('/');
      if (slash <= 0) throw new CheckpointError(`${path}: tensor "${name}" belongs to no group`);
      const group = name.slice(0, slash);
      groups[group] ??= Object.create(null) as Record<string, Float32Array>;
      groups[group][name.slice(slash + 1)] = (await file.read(name)).data;
    }
  } finally {
    await file.close();
  }
  return groups;
}
