import { type FileHandle, open } from 'node:fs/promises';
import { asStorageError, CheckpointError } from '../core/index.ts';
import { decodeBfloat16, decodeFloat16 } from './half-floats.ts';
import {
  BYTES_PER_VALUE,
  damaged,
  MAXIMUM_HEADER_BYTES,
  parseHeader,
  type SafetensorsHeader,
  type TensorEntry,
} from './safetensors-header.ts';

/**
 * The safetensors container: 8 bytes of header length (little endian), a JSON header, then the tensors'
 * bytes. Files come from anywhere, so every length, offset and shape is checked before it is used.
 */

export interface TensorData {
  shape: readonly number[];
  data: Float32Array;
}

/** Values read and decoded at a time, so that the stored bytes are never a second copy of a tensor. */
export const PIECE_VALUES = 2 ** 20;

/** An open safetensors file: the index is in memory, tensors are read when asked for. Close it after use. */
export class SafetensorsFile {
  readonly path: string;
  readonly tensors: ReadonlyMap<string, TensorEntry>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly #handle: FileHandle;
  readonly #dataStart: number;

  private constructor(path: string, handle: FileHandle, dataStart: number, header: SafetensorsHeader) {
    this.path = path;
    this.#handle = handle;
    this.#dataStart = dataStart;
    this.tensors = header.tensors;
    this.metadata = header.metadata;
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
      const start = Buffer.alloc(8);
      await readFully(handle, path, 0, start);
      const length = start.readBigUInt64LE(0);
      if (length > BigInt(MAXIMUM_HEADER_BYTES)) {
        throw damaged(path, `the header claims ${length} bytes, at most ${MAXIMUM_HEADER_BYTES} are allowed`);
      }
      const dataStart = 8 + Number(length);
      if (dataStart > size) {
        throw damaged(path, `the header claims ${length} bytes but the file has ${size}`);
      }
      const header = new Uint8Array(Number(length));
      await readFully(handle, path, 8, header);
      return new SafetensorsFile(path, handle, dataStart, parseHeader(path, header, size - dataStart));
    } catch (error) {
      await handle.close();
      throw asStorageError(error, `reading ${path}`);
    }
  }

  /** The values of one tensor as 32-bit floats, row-major. */
  async read(name: string): Promise<TensorData> {
    const { shape } = this.#entry(name);
    const data = new Float32Array(shape.reduce((product, n) => product * n, 1));
    await this.readInto(name, data);
    return { shape, data };
  }

  /**
   * Fills `target` with values of one tensor, row-major, from the value at `start` on. Beside the target it takes a
   * few megabytes, whatever the tensor's size.
   */
  async readInto(name: string, target: Float32Array, start = 0): Promise<void> {
    const { dtype, begin, end } = this.#entry(name);
    const width = BYTES_PER_VALUE[dtype];
    if (start < 0 || begin + (start + target.length) * width > end) {
      const values = (end - begin) / width;
      throw new RangeError(
        `tensor ${name} has ${values} values, asked for ${target.length} from ${start} on`,
      );
    }
    const halves = dtype === 'F32' ? undefined : new Uint16Array(Math.min(PIECE_VALUES, target.length));
    const decode = dtype === 'F16' ? decodeFloat16 : decodeBfloat16;
    for (let at = 0; at < target.length; at += PIECE_VALUES) {
      const piece = target.subarray(at, at + PIECE_VALUES);
      const stored = halves?.subarray(0, piece.length) ?? piece;
      const bytes = new Uint8Array(stored.buffer, stored.byteOffset, stored.byteLength);
      const position = this.#dataStart + begin + (start + at) * width;
      await readFully(this.#handle, this.path, position, bytes);
      if (halves !== undefined) decode(stored as Uint16Array, piece);
    }
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  #entry(name: string): TensorEntry {
    const entry = this.tensors.get(name);
    if (entry === undefined) throw new CheckpointError(`${this.path} holds no tensor "${name}"`);
    return entry;
  }
}

async function readFully(handle: FileHandle, path: string, position: number, bytes: Uint8Array) {
  let done = 0;
  while (done < bytes.length) {
    let bytesRead: number;
    try {
      ({ bytesRead } = await handle.read(bytes, done, bytes.length - done, position + done));
    } catch (error) {
      throw asStorageError(error, `reading ${path}`);
    }
    if (bytesRead === 0) throw damaged(path, `it ended ${bytes.length - done} bytes early`);
    done += bytesRead;
  }
}
