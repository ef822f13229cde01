import { inflateSync } from 'node:zlib';
import { InputError } from '../../../core/index.ts';

/** Data types of the MAT-file format, level 5 (MathWorks, "MAT-File Format", table 1-1). */
export const MI = {
  int8: 1,
  uint8: 2,
  int16: 3,
  uint16: 4,
  int32: 5,
  uint32: 6,
  single: 7,
  double: 9,
  int64: 12,
  uint64: 13,
  matrix: 14,
  compressed: 15,
  utf8: 16,
  utf16: 17,
  utf32: 18,
} as const;

/** What one file may unpack to: far above any label file, far below what fills a machine. */
export const LARGEST_UNPACKED = 256 * 1024 * 1024;

/** One tagged element: its type and its bytes. */
export interface Element {
  type: number;
  data: Buffer;
}

/** A budget of unpacked bytes that all compressed elements of a file share. */
export interface Unpacking {
  left: number;
}

/** Reads elements one after the other, each checked against the bytes that are there. */
export class ElementReader {
  readonly littleEndian: boolean;
  readonly #bytes: Buffer;
  readonly #name: string;
  #at = 0;

  constructor(bytes: Buffer, littleEndian: boolean, name: string) {
    this.#bytes = bytes;
    this.littleEndian = littleEndian;
    this.#name = name;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  uint32(data: Buffer, at: number): number {
    if (at + 4 > data.length) throw broken(this.#name, 'an element is cut short');
    return this.littleEndian ? data.readUInt32LE(at) : data.readUInt32BE(at);
  }

  next(): Element {
    const tag = this.uint32(this.#bytes, this.#at);
    // The small form keeps up to 4 bytes in the tag itself: length in the upper half, type in the lower.
    if (tag >>> 16 !== 0) {
      const length = tag >>> 16;
      if (length > 4 || this.#at + 8 > this.#bytes.length)
        throw broken(this.#name, 'a small element has a false length');
      const data = this.#bytes.subarray(this.#at + 4, this.#at + 4 + length);
      this.#at += 8;
      return { type: tag & 0xffff, data };
    }
    const length = this.uint32(this.#bytes, this.#at + 4);
    const start = this.#at + 8;
    if (length > this.#bytes.length - start) {
      throw broken(
        this.#name,
        `an element says it has ${length} bytes, ${this.#bytes.length - start} are left`,
      );
    }
    // Compressed elements alone are not padded to 8 bytes.
    this.#at = start + (tag === MI.compressed ? length : Math.ceil(length / 8) * 8);
    return { type: tag, data: this.#bytes.subarray(start, start + length) };
  }
}

/** The element inside a compressed one. */
export function unpack(data: Buffer, unpacking: Unpacking, littleEndian: boolean, name: string): Element {
  let bytes: Buffer;
  try {
    bytes = inflateSync(data, { maxOutputLength: Math.max(1, unpacking.left) });
  } catch (error) {
    throw broken(name, `a compressed element can't be unpacked (${(error as Error).message})`);
  }
  unpacking.left -= bytes.length;
  return new ElementReader(bytes, littleEndian, name).next();
}

export const broken = (name: string, why: string): InputError =>
  new InputError(`${name} can't be read as a MAT-file: ${why}`, {
    hint: 'copy or download it again, or save the variables with save(..., "-v7")',
  });
