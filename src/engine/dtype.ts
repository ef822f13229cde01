/** Element types that a graph value can have. int64 and float64 exist only inside graphs, never as tensors. */
export type ValueType = 'float32' | 'int32' | 'bool' | 'int64' | 'float64';

/** The element types that TensorFlow.js tensors of this backend have. */
export type TensorType = 'float32' | 'int32' | 'bool';

export type NumericArray = Float32Array | Int32Array | Uint8Array;

/** TensorProto.DataType codes of the ONNX specification. */
export const ONNX_TYPE: Record<ValueType, number> = { float32: 1, int32: 6, int64: 7, bool: 9, float64: 11 };

export function isTensorType(dtype: string): dtype is TensorType {
  return dtype === 'float32' || dtype === 'int32' || dtype === 'bool';
}

export function allocate(dtype: ValueType, length: number): NumericArray {
  if (dtype === 'float32') return new Float32Array(length);
  if (dtype === 'int32') return new Int32Array(length);
  if (dtype === 'bool') return new Uint8Array(length);
  throw new RangeError(`a ${dtype} value exists only inside a graph and cannot be stored in a tensor`);
}

/** The array itself where it already has the storage of `dtype` (no copy), else a converted copy. */
export function toStorage(dtype: TensorType, values: ArrayLike<number>): NumericArray {
  if (dtype === 'float32') return values instanceof Float32Array ? values : Float32Array.from(values);
  if (dtype === 'int32') return values instanceof Int32Array ? values : Int32Array.from(values);
  return values instanceof Uint8Array ? values : Uint8Array.from(values, (value) => (value ? 1 : 0));
}

export function sizeOf(shape: readonly number[]): number {
  let size = 1;
  for (const extent of shape) size *= extent;
  return size;
}

export function sameShape(a: readonly number[], b: readonly number[]): boolean {
  if (a.length !== b.length) return false;
  for (let axis = 0; axis < a.length; axis++) if (a[axis] !== b[axis]) return false;
  return true;
}
