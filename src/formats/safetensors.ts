import { type FileHandle, open } from 'node:fs/promises';
import { asStorageError, CheckpointError, writeFileAtomic } from '../core/index.ts';
import { decodeBfloat16, decodeFloat16, encodeBfloat16 } from './half-floats.ts';

/**
 * The safetensors container: 8 bytes of header length (little endian), a JSON header, then the tensors'
 * bytes. Files come from anywhere, so every length, offset and shape is checked before it is used.
 */

/** Longer headers are refused before they are read (the reference implementation's own limit). */
export const MAXIMUM_HEADER_BYTES = 100_000_000;

const BYTES_PER_VALUE = { F32: 4, F16: 2, BF16: 2 } as const;
export type FloatType = keyof typeof BYTES_PER_VALUE;

export interface TensorEntry {
  dtype: FloatType;
  shape: number[];
  /** First and one-past-last byte, counted from the end of the header. */
  begin: number;
  end: number;
}

export interface TensorData {
  shape: readonly number[];
  data: Float32Array;
}

/** An open safetensors file: the index is in memory, tensors are read when asked for. Close it after use. */
export class SafetensorsFile {
  readonly path: string;
  readonly tensors: ReadonlyMap<string, TensorEntry>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly #handle: FileHandle;
  readonly #dataStart: number;

  private constructor(
    path: string,
    handle: FileHandle,
    dataStart: number,
    index: ReturnType<typeof parseHeader>,
  ) {
    this.path = path;
    this.#handle = handle;
    this.#dataStart = dataStart;
    this.tensors = index.tensors;
    this.metadata = index.metadata;
  }

  /** Opens and checks a file. CheckpointError if it is not a sound safetensors file, StorageError if unreadable. */
  static async open(path: string): Promise<SafetensorsFile> {
    let handle: FileHandle;
    try {
      handle = await open(path, 'r');
    } catch (error) {
      throw asStorageError(error, `opening ${path}`);
    }
    try {
      const { size } = await handle.stat();
      if (size < 8) throw damaged(path, `it has ${size} bytes, fewer than the 8 of the header length`);
      const length = (await readBytes(handle, path, 0, 8)).readBigUInt64LE(0);
      if (length > BigInt(MAXIMUM_HEADER_BYTES)) {
        throw damaged(path, `the header claims ${length} bytes, at most ${MAXIMUM_HEADER_BYTES} are allowed`);
      }
      const dataStart = 8 + Number(length);
      if (dataStart > size) {
        throw damaged(path, `the header claims ${length} bytes but the file has ${size}`);
      }
      const header = await readBytes(handle, path, 8, Number(length));
      return new SafetensorsFile(path, handle, dataStart, parseHeader(path, header, size - dataStart));
    } catch (error) {
      await handle.close();
      throw asStorageError(error, `reading ${path}`);
    }
  }

  /** The values of one tensor as 32-bit floats, row-major. */
  async read(name: string): Promise<TensorData> {
    const entry = this.tensors.get(name);
    if (entry === undefined) throw new CheckpointError(`${this.path} holds no tensor "${name}"`);
    const bytes = await readBytes(
      this.#handle,
      this.path,
      this.#dataStart + entry.begin,
      entry.end - entry.begin,
    );
    const buffer = bytes.buffer as ArrayBuffer; // readBytes allocates exactly, at offset 0
    if (entry.dtype === 'F32') return { shape: entry.shape, data: new Float32Array(buffer) };
    const halves = new Uint16Array(buffer);
    const decode = entry.dtype === 'F16' ? decodeFloat16 : decodeBfloat16;
    return { shape: entry.shape, data: decode(halves) };
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

/**
 * Writes tensors in name order, so equal weights give equal bytes. BF16 rounds to nearest, ties to even.
 * The file appears whole or not at all.
 */
export async function writeSafetensors(
  path: string,
  tensors: ReadonlyMap<string, TensorData>,
  options: { dtype?: 'F32' | 'BF16'; metadata?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  await writeFileAtomic(path, encodeSafetensors(tensors, options));
}

export function encodeSafetensors(
  tensors: ReadonlyMap<string, TensorData>,
  options: { dtype?: 'F32' | 'BF16'; metadata?: Readonly<Record<string, string>> } = {},
): Uint8Array {
  const dtype = options.dtype ?? 'F32';
  const header: Record<string, unknown> = {};
  if (options.metadata !== undefined) header.__metadata__ = options.metadata;
  const chunks: Uint8Array[] = [];
  let offset = 0;
  for (const name of [...tensors.keys()].sort()) {
    const { shape, data } = tensors.get(name)!;
    const size = shape.reduce((product, n) => product * n, 1);
    if (size !== data.length) {
      throw new RangeError(`tensor ${name}: shape [${shape.join(', ')}] holds ${size}, got ${data.length}`);
    }
    const values = dtype === 'BF16' ? encodeBfloat16(data) : data;
    header[name] = { dtype, shape, data_offsets: [offset, offset + values.byteLength] };
    chunks.push(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    offset += values.byteLength;
  }
  let text = JSON.stringify(header);
  text += ' '.repeat((8 - (Buffer.byteLength(text) % 8)) % 8); // tensors start on an 8-byte boundary
  const headerBytes = Buffer.from(text, 'utf8');
  const result = Buffer.alloc(8 + headerBytes.length + offset);
  result.writeBigUInt64LE(BigInt(headerBytes.length), 0);
  headerBytes.copy(result, 8);
  let position = 8 + headerBytes.length;
  for (const chunk of chunks) {
    result.set(chunk, position);
    position += chunk.length;
  }
  return result;
}

function parseHeader(path: string, bytes: Buffer, dataBytes: number) {
  let header: unknown;
  try {
    header = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw damaged(path, `the header is not JSON (${(error as Error).message})`);
  }
  if (typeof header !== 'object' || header === null || Array.isArray(header)) {
    throw damaged(path, 'the header is not a JSON object');
  }
  const tensors = new Map<string, TensorEntry>();
  const metadata: Record<string, string> = {};
  for (const [name, value] of Object.entries(header)) {
    if (name === '__metadata__') {
      for (const [key, text] of Object.entries((value ?? {}) as Record<string, unknown>)) {
        if (typeof text !== 'string') throw damaged(path, `metadata "${key}" is not a string`);
        metadata[key] = text;
      }
    } else tensors.set(name, parseEntry(path, name, value, dataBytes));
  }
  // The format requires the tensors to tile the data without overlap or hole.
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

function parseEntry(path: string, name: string, value: unknown, dataBytes: number): TensorEntry {
  const { dtype, shape, data_offsets } = (value ?? {}) as Record<string, unknown>;
  if (typeof dtype !== 'string' || !Object.hasOwn(BYTES_PER_VALUE, dtype)) {
    throw damaged(path, `tensor "${name}" has type ${String(dtype)}, readable are F32, F16 and BF16`);
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

const damaged = (path: string, problem: string): CheckpointError =>
  new CheckpointError(`${path} is not a sound safetensors file: ${problem}`, {
    hint: 'copy or download the file again; it may have been cut short',
  });

async function readBytes(handle: FileHandle, path: string, position: number, length: number) {
  const bytes = Buffer.from(new ArrayBuffer(length));
  let done = 0;
  while (done < length) {
    const { bytesRead } = await handle.read(bytes, done, length - done, position + done);
    if (bytesRead === 0) throw damaged(path, `it ended ${length - done} bytes early`);
    done += bytesRead;
  }
  return bytes;
}
