import { CheckpointError } from '../core/index.ts';
import { encodeBfloat16, encodeFloat16 } from './half-floats.ts';
import { PIECE_VALUES, type TensorData } from './safetensors.ts';
import { BYTES_PER_VALUE, type FloatType } from './safetensors-header.ts';
import { streamFileAtomic } from './stream-file.ts';

/** A tensor to be written, whose values come when they are asked for, in pieces of any size. */
export interface TensorStream {
  name: string;
  shape: readonly number[];
  /** All values, row-major. An array that was given is read before the next one is asked for. */
  values(): AsyncIterable<Float32Array>;
}

export interface SafetensorsOptions {
  /** How values are stored; default F32. */
  dtype?: FloatType;
  metadata?: Readonly<Record<string, string>>;
}

/** Bytes that the values of a tensor of this shape take in a file. */
export const storedBytes = (shape: readonly number[], dtype: FloatType): number =>
  shape.reduce((product, n) => product * n, 1) * BYTES_PER_VALUE[dtype];

/**
 * The bytes of a safetensors file, piece by piece. Tensors stand in the order of their names, so equal weights give
 * equal bytes. Halves are rounded to nearest, ties to even; CheckpointError for a finite value that the type cannot
 * hold.
 */
export async function* safetensorsBytes(
  tensors: readonly TensorStream[],
  options: SafetensorsOptions = {},
): AsyncGenerator<Uint8Array> {
  const dtype = options.dtype ?? 'F32';
  const ordered = [...tensors].sort((a, b) => (a.name < b.name ? -1 : 1));
  yield headerBytes(ordered, dtype, options.metadata);
  for (const { name, shape, values } of ordered) {
    const expected = storedBytes(shape, dtype);
    let written = 0;
    for await (const array of values()) {
      for (let at = 0; at < array.length; at += PIECE_VALUES) {
        const piece = encode(name, array.subarray(at, at + PIECE_VALUES), dtype);
        written += piece.byteLength;
        yield new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength);
      }
    }
    if (written !== expected) {
      const width = BYTES_PER_VALUE[dtype];
      throw new RangeError(
        `tensor ${name}: shape [${shape.join(', ')}] holds ${expected / width}, got ${written / width}`,
      );
    }
  }
}

/** Writes tensors to a file, which appears whole or not at all. Order, rounding and errors as `safetensorsBytes`. */
export async function writeSafetensors(
  path: string,
  tensors: ReadonlyMap<string, TensorData>,
  options: SafetensorsOptions = {},
): Promise<void> {
  const streams = [...tensors].map(([name, tensor]) => streamOf(name, tensor));
  await streamFileAtomic(path, safetensorsBytes(streams, options));
}

/** A tensor in memory as a stream. */
export const streamOf = (name: string, { shape, data }: TensorData): TensorStream => ({
  name,
  shape,
  async *values() {
    yield data;
  },
});

function headerBytes(
  tensors: readonly TensorStream[],
  dtype: FloatType,
  metadata: Readonly<Record<string, string>> | undefined,
): Uint8Array {
  const entries: [string, unknown][] = metadata === undefined ? [] : [['__metadata__', metadata]];
  let offset = 0;
  for (const { name, shape } of tensors) {
    const end = offset + storedBytes(shape, dtype);
    entries.push([name, { dtype, shape, data_offsets: [offset, end] }]);
    offset = end;
  }
  let text = JSON.stringify(Object.fromEntries(entries));
  text += ' '.repeat((8 - (Buffer.byteLength(text) % 8)) % 8); // tensors start on an 8-byte boundary
  const header = Buffer.from(text, 'utf8');
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length), 0);
  return Buffer.concat([length, header]);
}

const ENCODERS = { F16: encodeFloat16, BF16: encodeBfloat16 } as const;
const LARGEST = { F16: '65504', BF16: '3.39e38' } as const;

function encode(name: string, values: Float32Array, dtype: FloatType): Float32Array | Uint16Array {
  if (dtype === 'F32') return values;
  const halves = new Uint16Array(values.length);
  const overflow = ENCODERS[dtype](values, halves);
  if (overflow < 0) return halves;
  throw new CheckpointError(
    `tensor "${name}" holds ${values[overflow]}, ${dtype} ends at ${LARGEST[dtype]}: it cannot be stored so`,
    { hint: dtype === 'F16' ? 'choose BF16 or F32' : 'choose F32' },
  );
}
