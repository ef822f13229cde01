import type { onnx } from 'onnx-proto';
import { type NumericArray, ONNX_TYPE, sizeOf } from './dtype.ts';
import type { GraphValue } from './node.ts';

/** Tensors begin at whole pages, so that ONNX Runtime maps them instead of reading them. */
export const EXTERNAL_ALIGNMENT = 4096;

/** onnx.proto, TensorProto.DataLocation. */
const EXTERNAL = 1;

/** Bytes of a piece: what a reader waits for between two looks at a signal. */
const PIECE_BYTES = 2 ** 24;

export interface ExternalDataOptions {
  /** Name of the file; it lies beside the models that refer to it. */
  location: string;
  /** Bytes from which on a tensor goes into the file. */
  smallestBytes: number;
}

/**
 * The large tensors of one or several models in a file beside them (external data of the ONNX specification). A
 * tensor that several models read lies there once. Holds no copy: tensors must not change before they are written.
 */
export class ExternalData {
  readonly location: string;
  readonly #smallestBytes: number;
  readonly #places = new Map<NumericArray, { offset: number; length: number }>();
  #end = 0;

  constructor({ location, smallestBytes }: ExternalDataOptions) {
    this.location = location;
    this.#smallestBytes = smallestBytes;
  }

  /** Size of the file so far. */
  get bytes(): number {
    return this.#end;
  }

  /** A tensor as a model refers to it; undefined where it is so small that it belongs into the model. */
  place(name: string, { dtype, shape }: GraphValue, data: NumericArray): onnx.ITensorProto | undefined {
    const length = sizeOf(shape) * data.BYTES_PER_ELEMENT;
    if (length < this.#smallestBytes) return undefined;
    let place = this.#places.get(data);
    if (place === undefined) {
      const offset = Math.ceil(this.#end / EXTERNAL_ALIGNMENT) * EXTERNAL_ALIGNMENT;
      place = { offset, length };
      this.#places.set(data, place);
      this.#end = offset + length;
    }
    const entries = { location: this.location, offset: place.offset, length: place.length };
    return {
      name,
      dataType: ONNX_TYPE[dtype],
      dims: [...shape],
      dataLocation: EXTERNAL,
      externalData: Object.entries(entries).map(([key, value]) => ({ key, value: String(value) })),
    };
  }

  /** The file's bytes in order, as views of the tensors and zeros between them. */
  *pieces(): Generator<Uint8Array> {
    let at = 0;
    for (const [data, { offset, length }] of this.#places) {
      if (offset > at) yield new Uint8Array(offset - at);
      for (let done = 0; done < length; done += PIECE_BYTES) {
        yield new Uint8Array(data.buffer, data.byteOffset + done, Math.min(PIECE_BYTES, length - done));
      }
      at = offset + length;
    }
  }
}
