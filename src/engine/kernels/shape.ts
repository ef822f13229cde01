import * as tf from '@tensorflow/tfjs';
import { concat, expand, reshape, slice, transpose } from '../build.ts';
import { allocate, sameShape, sizeOf, type TensorType } from '../dtype.ts';
import type { GraphValue } from '../node.ts';
import { int64Vector, leaf, literal, operation, scalar } from '../node.ts';
import {
  input,
  inputList,
  type KernelTable,
  type LazyKernel,
  normalizedAxes,
  numberAttribute,
  numbersAttribute,
  optionalNumbersAttribute,
} from './kernel.ts';

const INT32_MIN = -(2 ** 31);

const sliceKernel: LazyKernel = (inputs, attributes) => {
  const x = input(inputs, 'x');
  const [begin, size] = tf.slice_util.parseSliceParams(
    infoOf(x),
    numbersAttribute(attributes, 'begin'),
    numbersAttribute(attributes, 'size'),
  ) as [number[], number[]];
  tf.slice_util.assertParamsValid(infoOf(x), begin, size);
  return slice(x, begin, size);
};

const stridedSlice: LazyKernel = (inputs, attributes) => {
  const x = input(inputs, 'x');
  const mask = (name: string): number => numberAttribute(attributes, name);
  const { finalShape, finalShapeSparse, begin, end, strides } = tf.slice_util.sliceInfo(
    [...x.shape],
    numbersAttribute(attributes, 'begin'),
    numbersAttribute(attributes, 'end'),
    numbersAttribute(attributes, 'strides'),
    mask('beginMask'),
    mask('endMask'),
    mask('ellipsisMask'),
    mask('newAxisMask'),
    mask('shrinkAxisMask'),
  );
  if (sizeOf(finalShape) === 0) return leaf(x.dtype as TensorType, finalShape, allocate(x.dtype, 0));
  // Counting down to -1 includes element 0; ONNX would read -1 as the last element.
  const ends = end.map((stop, axis) => (strides[axis]! < 0 && stop < 0 ? INT32_MIN : stop));
  const extents = begin.map((start, axis) => Math.ceil((end[axis]! - start) / strides[axis]!));
  const axes = begin.map((_, axis) => axis);
  const sliced = operation(
    'Slice',
    [x, int64Vector(begin), int64Vector(ends), int64Vector(axes), int64Vector(strides)],
    x.dtype,
    extents,
  );
  return reshape(reshape(sliced, finalShapeSparse), finalShape);
};

const reverse: LazyKernel = (inputs, attributes) => {
  const x = input(inputs, 'x');
  const axes = normalizedAxes(optionalNumbersAttribute(attributes, 'dims'), x.shape.length);
  if (axes.length === 0 || x.shape.length === 0) return x;
  const every = (number: number): GraphValue => int64Vector(axes.map(() => number));
  return operation('Slice', [x, every(-1), every(INT32_MIN), int64Vector(axes), every(-1)], x.dtype, x.shape);
};

const split: LazyKernel = (inputs, attributes) => {
  const x = input(inputs, 'x');
  const axis = axisOf(x, numberAttribute(attributes, 'axis'));
  const sections = attributes.numOrSizeSplits as number | number[];
  const begin = x.shape.map(() => 0);
  return tf.backend_util.prepareSplitSize(tensorOf(x), sections, axis).map((extent) => {
    const part = slice(x, begin, withExtent(x.shape, axis, extent));
    begin[axis]! += extent;
    return part;
  });
};

const unpack: LazyKernel = (inputs, attributes) => {
  const x = input(inputs, 'value');
  const axis = axisOf(x, numberAttribute(attributes, 'axis'));
  const shape = x.shape.filter((_, other) => other !== axis);
  return Array.from({ length: x.shape[axis]! }, (_, index) => {
    const begin = x.shape.map((_, other) => (other === axis ? index : 0));
    return reshape(slice(x, begin, withExtent(x.shape, axis, 1)), shape);
  });
};

const pack: LazyKernel = (inputs, attributes) => {
  const values = inputList(inputs);
  const axis = numberAttribute(attributes, 'axis');
  const at = axis < 0 ? axis + values[0]!.shape.length + 1 : axis;
  return concat(
    values.map((value) => reshape(value, value.shape.toSpliced(at, 0, 1))),
    at,
  );
};

const pad: LazyKernel = (inputs, attributes) => {
  const x = input(inputs, 'x');
  const number = numberAttribute(attributes, 'constantValue');
  const value = x.dtype === 'float32' ? scalar('float32', number) : literal(x.dtype, number);
  return padded(x, attributes.paddings as [number, number][], 'constant', value);
};

function padded(
  x: GraphValue,
  paddings: readonly [number, number][],
  mode: string,
  value?: GraphValue,
): GraphValue {
  const shape = x.shape.map((extent, axis) => extent + paddings[axis]![0] + paddings[axis]![1]);
  if (sameShape(shape, x.shape)) return x;
  if (sizeOf(x.shape) === 0 && value !== undefined) return expand(value, shape);
  const amounts = int64Vector([...paddings.map(([before]) => before), ...paddings.map(([, after]) => after)]);
  return operation('Pad', [x, amounts, value], x.dtype, shape, { attributes: { mode } });
}

const tile: LazyKernel = (inputs, attributes) => {
  const x = input(inputs, 'x');
  const repeats = numbersAttribute(attributes, 'reps');
  const shape = x.shape.map((extent, axis) => extent * repeats[axis]!);
  if (x.shape.every((extent, axis) => extent === 1 || repeats[axis] === 1)) return expand(x, shape);
  return operation('Tile', [x, int64Vector(repeats)], x.dtype, shape);
};

export const shapeKernels: KernelTable = {
  Reshape: (inputs, attributes) => {
    const x = input(inputs, 'x');
    return reshape(x, tf.util.inferFromImplicitShape(numbersAttribute(attributes, 'shape'), sizeOf(x.shape)));
  },
  ExpandDims: (inputs, attributes) => {
    const x = input(inputs, 'input');
    const axis = numberAttribute(attributes, 'dim');
    return reshape(x, x.shape.toSpliced(axis < 0 ? axis + x.shape.length + 1 : axis, 0, 1));
  },
  Transpose: (inputs, attributes) => transpose(input(inputs, 'x'), numbersAttribute(attributes, 'perm')),
  Slice: sliceKernel,
  StridedSlice: stridedSlice,
  Reverse: reverse,
  SplitV: split,
  Unpack: unpack,
  Pack: pack,
  Concat: (inputs, attributes) => {
    const values = inputList(inputs);
    return concat(values, axisOf(values[0]!, numberAttribute(attributes, 'axis')));
  },
  PadV2: pad,
  Tile: tile,
};

function axisOf(x: GraphValue, axis: number): number {
  return normalizedAxes([axis], x.shape.length)[0]!;
}

function withExtent(shape: readonly number[], axis: number, extent: number): number[] {
  return shape.map((old, other) => (other === axis ? extent : old));
}

/** TensorFlow.js's shape helpers read only the shape of what they are given. */
function infoOf(x: GraphValue): tf.TensorInfo {
  return { dataId: {}, shape: [...x.shape], dtype: x.dtype as tf.DataType };
}

function tensorOf(x: GraphValue): tf.Tensor {
  return infoOf(x) as unknown as tf.Tensor;
}
