import { CheckpointError } from '../core/index.ts';
import { duplicateKey } from './duplicate-keys.ts';

/** Longer headers are refused before they are read (the reference implementation's own limit). */
export const MAXIMUM_HEADER_BYTES = 100_000_000;

/** The types that can be read and written, by their names in the format. */
export const BYTES_PER_VALUE = { F32: 4, F16: 2, BF16: 2 } as const;
export type FloatType = keyof typeof BYTES_PER_VALUE;
export const FLOAT_TYPES = Object.keys(BYTES_PER_VALUE) as readonly FloatType[];

export interface TensorEntry {
  dtype: FloatType;
  shape: number[];
  /** First and one-past-last byte, counted from the end of the header. */
  begin: number;
  end: number;
}

export interface SafetensorsHeader {
  tensors: Map<string, TensorEntry>;
  metadata: Record<string, string>;
}

/**
 * Reads the JSON header of a safetensors file with `dataBytes` bytes behind it. Every length, offset and shape is
 * checked, and that the tensors tile the data without overlap or hole. CheckpointError where anything is amiss.
 */
export function parseHeader(path: string, bytes: Uint8Array, dataBytes: number): SafetensorsHeader {
  const header = parseObject(path, bytes);
  const tensors = new Map<string, TensorEntry>();
  let metadata: Record<string, string> = {};
  for (const [name, value] of Object.entries(header)) {
    if (name === '__metadata__') metadata = parseMetadata(path, value);
    else tensors.set(name, parseEntry(path, name, value, dataBytes));
  }
  let expected = 0;
  const ordered = [...tensors].sort(([, a], [, b]) => a.begin - b.begin || a.end - b.end);
  for (const [name, entry] of ordered) {
    if (entry.begin < expected) throw damaged(path, `tensor "${name}" overlaps the one before it`);
    if (entry.begin > expected) {
      throw damaged(path, `there is a hole of ${entry.begin - expected} bytes before tensor "${name}"`);
    }
    expected = entry.end;
  }
  if (expected !== dataBytes) {
    throw damaged(path, `the tensors end at byte ${expected} of the data, the file holds ${dataBytes}`);
  }
  return { tensors, metadata };
}

function parseObject(path: string, bytes: Uint8Array): object {
  let header: unknown;
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    header = JSON.parse(text);
  } catch (error) {
    throw damaged(path, `the header is not JSON (${(error as Error).message})`);
  }
  if (typeof header !== 'object' || header === null || Array.isArray(header)) {
    throw damaged(path, 'the header is not a JSON object');
  }
  const twice = duplicateKey(text);
  if (twice !== null) throw damaged(path, `the header holds the key "${twice}" twice`);
  return header;
}

function parseMetadata(path: string, value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw damaged(path, '__metadata__ is not a JSON object');
  }
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== 'string') throw damaged(path, `metadata "${key}" is not a string`);
  }
  return { ...(value as Record<string, string>) };
}

function parseEntry(path: string, name: string, value: unknown, dataBytes: number): TensorEntry {
  const { dtype, shape, data_offsets } = (value ?? {}) as Record<string, unknown>;
  if (typeof dtype !== 'string' || !Object.hasOwn(BYTES_PER_VALUE, dtype)) {
    throw new CheckpointError(
      `${path}: tensor "${name}" has type ${String(dtype)}, readable are ${FLOAT_TYPES.join(', ')}`,
      { hint: 'give the weights as they were released, not a quantised copy (AWQ, GPTQ, FP8, 4 bit)' },
    );
  }
  if (!isCountList(shape)) throw damaged(path, `tensor "${name}" has no valid shape`);
  if (!isCountList(data_offsets) || data_offsets.length !== 2) {
    throw damaged(path, `tensor "${name}" has no valid data_offsets`);
  }
  const [begin, end] = data_offsets as [number, number];
  if (begin > end || end > dataBytes) {
    throw damaged(path, `tensor "${name}" covers bytes ${begin} to ${end}, the data have ${dataBytes}`);
  }
  const bytes = shape.reduce((product, n) => product * n, 1) * BYTES_PER_VALUE[dtype as FloatType];
  if (!Number.isSafeInteger(bytes) || bytes !== end - begin) {
    throw damaged(
      path,
      `tensor "${name}" of type ${dtype} and shape [${shape.join(', ')}] needs ${bytes} bytes, got ${end - begin}`,
    );
  }
  return { dtype: dtype as FloatType, shape, begin, end };
}

const isCountList = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((n) => Number.isSafeInteger(n) && n >= 0);

/** What to say of a file that breaks the format. */
export const damaged = (path: string, problem: string): CheckpointError =>
  new CheckpointError(`${path} is not a sound safetensors file: ${problem}`, {
    hint: 'copy or download the file again; it may have been cut short',
  });
