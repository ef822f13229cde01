import {
  binary,
  cast,
  compare,
  expand,
  fill,
  multiply,
  range,
  reduce,
  reshape,
  scatterAddRows,
  transpose,
  where,
} from '../build.ts';
import type { TensorType } from '../dtype.ts';
import { isTensorType, sizeOf } from '../dtype.ts';
import type { GraphValue } from '../node.ts';
import { constant, leaf, operation, scalar } from '../node.ts';
import {
  input,
  type KernelTable,
  type LazyKernel,
  numberAttribute,
  numbersAttribute,
  stringAttribute,
} from './kernel.ts';

const gather: LazyKernel = (inputs, attributes) => {
  const x = input(inputs, 'x');
  const indices = cast(input(inputs, 'indices'), 'int32');
  const axis = numberAttribute(attributes, 'axis');
  const batchDims = numberAttribute(attributes, 'batchDims');
  const at = axis < 0 ? axis + x.shape.length : axis;
  if (batchDims === 0) {
    const shape = [...x.shape.slice(0, at), ...indices.shape, ...x.shape.slice(at + 1)];
    return operation('Gather', [x, indices], x.dtype, shape, { attributes: { axis: at } });
  }
  return batchedGather(x, indices, at, batchDims);
};

/** Each batch element has its own indices: number the rows of all batch elements through, then gather once. */
function batchedGather(x: GraphValue, indices: GraphValue, axis: number, batchDims: number): GraphValue {
  const batch = sizeOf(x.shape.slice(0, batchDims));
  const outer = x.shape.slice(batchDims, axis);
  const extent = x.shape[axis]!;
  const inner = x.shape.slice(axis + 1);
  const chosen = indices.shape.slice(batchDims);
  const shape = [...x.shape.slice(0, axis), ...chosen, ...inner];
  if (sizeOf(shape) === 0) return fill(x.dtype as TensorType, shape, 0);
  const [o, n, w] = [sizeOf(outer), sizeOf(chosen), sizeOf(inner)];
  const rows = reshape(transpose(reshape(x, [batch, o, extent, w]), [0, 2, 1, 3]), [batch * extent, o * w]);
  const offsets = leaf(
    'int32',
    [batch, 1],
    Int32Array.from({ length: batch }, (_, i) => i * extent),
  );
  const numbers = binary('Add', reshape(indices, [batch, n]), offsets);
  const picked = operation('Gather', [rows, numbers], x.dtype, [batch, n, o * w], {
    attributes: { axis: 0 },
  });
  return reshape(transpose(reshape(picked, [batch, n, o, w]), [0, 2, 1, 3]), shape);
}

const gatherNd: LazyKernel = (inputs) => {
  const x = input(inputs, 'params');
  const indices = input(inputs, 'indices');
  const depth = indices.shape.at(-1)!;
  const shape = [...indices.shape.slice(0, -1), ...x.shape.slice(depth)];
  return operation('GatherND', [x, cast(indices, 'int64')], x.dtype, shape);
};

/** The row number of each index tuple [..., depth] in a tensor flattened to [rows, width]: int32 [n]. */
function rowNumbers(indices: GraphValue, shape: readonly number[]): GraphValue {
  const depth = indices.shape.at(-1)!;
  const strides = Array.from({ length: depth }, (_, axis) => sizeOf(shape.slice(axis + 1, depth)));
  const tuples = reshape(indices, [sizeOf(indices.shape) / depth, depth]);
  return reduce('ReduceSum', multiply(tuples, constant('int32', [depth], strides)), [1], false);
}

const scatterNd: LazyKernel = (inputs, attributes) => {
  const indices = input(inputs, 'indices');
  const updates = input(inputs, 'updates');
  const shape = numbersAttribute(attributes, 'shape');
  const depth = indices.shape.at(-1)!;
  const rows = sizeOf(shape.slice(0, depth));
  const width = sizeOf(shape.slice(depth));
  if (sizeOf(updates.shape) === 0) return fill(updates.dtype as TensorType, shape, 0);
  const flat = reshape(updates, [sizeOf(updates.shape) / width, width]);
  return reshape(scatterAddRows(flat, rowNumbers(indices, shape), rows), shape);
};

const tensorScatterUpdate: LazyKernel = (inputs) => {
  const x = input(inputs, 'tensor');
  const indices = input(inputs, 'indices');
  const updates = input(inputs, 'updates');
  if (sizeOf(updates.shape) === 0) return x;
  const depth = indices.shape.at(-1)!;
  const rows = sizeOf(x.shape.slice(0, depth));
  const width = sizeOf(x.shape.slice(depth));
  const count = sizeOf(updates.shape) / width;
  const rowOf = expand(reshape(rowNumbers(indices, x.shape), [count, 1]), [count, width]);
  const updated = operation(
    'ScatterElements',
    [reshape(x, [rows, width]), rowOf, reshape(updates, [count, width])],
    x.dtype,
    [rows, width],
    { attributes: { axis: 0 } },
  );
  return reshape(updated, x.shape);
};

const unsortedSegmentSum: LazyKernel = (inputs, attributes) => {
  const x = input(inputs, 'x');
  const segmentIds = cast(input(inputs, 'segmentIds'), 'int32');
  const segments = numberAttribute(attributes, 'numSegments');
  const inner = x.shape.slice(segmentIds.shape.length);
  const [count, width] = [sizeOf(segmentIds.shape), sizeOf(inner)];
  const sums = scatterAddRows(reshape(x, [count, width]), reshape(segmentIds, [count]), segments);
  return reshape(sums, [segments, ...inner]);
};

/** Compares with 0 ... depth - 1, which is many times faster than ONNX Runtime's OneHot. */
const oneHot: LazyKernel = (inputs, attributes) => {
  const indices = cast(input(inputs, 'indices'), 'int32');
  const depth = numberAttribute(attributes, 'depth');
  const on = numberAttribute(attributes, 'onValue');
  const off = numberAttribute(attributes, 'offValue');
  const named = attributes.dtype === undefined ? 'int32' : stringAttribute(attributes, 'dtype');
  const dtype: TensorType = isTensorType(named) ? named : 'int32';
  const hit = compare('Equal', reshape(indices, [...indices.shape, 1]), range(depth));
  if (on === 1 && off === 0) return cast(hit, dtype);
  return where(hit, scalar(dtype, on), scalar(dtype, off));
};

export const indexingKernels: KernelTable = {
  GatherV2: gather,
  GatherNd: gatherNd,
  ScatterNd: scatterNd,
  TensorScatterUpdate: tensorScatterUpdate,
  UnsortedSegmentSum: unsortedSegmentSum,
  OneHot: oneHot,
};
