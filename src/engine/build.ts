/**
 * Builders that record operations, with the simplifications that TensorFlow.js's gradients make worthwhile:
 * multiplying by ones, expanding what broadcasts anyway, converting what was just converted.
 */
import type { TensorType, ValueType } from './dtype.ts';
import { ONNX_TYPE, sameShape, sizeOf } from './dtype.ts';
import { constant, type GraphValue, int64Vector, leaf, literal, operation, scalar } from './node.ts';

/** The shape two operands broadcast to (the caller has checked that they do). */
export function broadcastShape(a: readonly number[], b: readonly number[]): number[] {
  const rank = Math.max(a.length, b.length);
  const shape: number[] = [];
  for (let axis = 0; axis < rank; axis++) {
    const fromA = a[a.length - rank + axis] ?? 1;
    const fromB = b[b.length - rank + axis] ?? 1;
    shape.push(fromA === 1 ? fromB : fromA);
  }
  return shape;
}

/** A value that repeats one number. */
export function fill(dtype: TensorType, shape: readonly number[], number: number): GraphValue {
  const single = scalar(dtype, number);
  return shape.length === 0 ? single : expand(single, shape);
}

export function expand(x: GraphValue, shape: readonly number[]): GraphValue {
  if (sameShape(x.shape, shape)) return x;
  const source = x.data === undefined && x.expandOf !== undefined ? x.expandOf : x;
  const expanded = operation('Expand', [source, int64Vector(shape)], x.dtype, shape);
  if (expanded.data === undefined) {
    expanded.expandOf = source;
    expanded.splat = x.splat;
  }
  return expanded;
}

export function reshape(x: GraphValue, shape: readonly number[]): GraphValue {
  if (sameShape(x.shape, shape)) return x;
  if (x.data !== undefined) {
    const view = leaf(x.dtype as TensorType, shape, x.data);
    view.splat = x.splat;
    return view;
  }
  if (x.constant !== undefined && x.constant.length === 1) return constant(x.dtype, shape, x.constant);
  if (x.splat !== undefined && x.expandOf !== undefined && x.expandOf.shape.length === 0)
    return expand(x.expandOf, shape);
  const source = x.producer?.type === 'Reshape' ? (x.producer.inputs[0] ?? x) : x;
  if (sameShape(source.shape, shape)) return source;
  return operation('Reshape', [source, int64Vector(shape)], x.dtype, shape);
}

export function cast(x: GraphValue, dtype: ValueType): GraphValue {
  if (x.dtype === dtype) return x;
  if (x.constant !== undefined)
    return constant(
      dtype,
      x.shape,
      x.constant.map((n) => converted(n, dtype)),
    );
  if (x.data === undefined && x.expandOf !== undefined) return expand(cast(x.expandOf, dtype), x.shape);
  const source = x.data === undefined && x.castOf?.dtype === 'bool' ? x.castOf : x;
  if (source.dtype === dtype) return source;
  const result = operation('Cast', [source], dtype, x.shape, { attributes: { to: ONNX_TYPE[dtype] } });
  if (result.data === undefined) result.castOf = source;
  return result;
}

function converted(number: number, dtype: ValueType): number {
  if (dtype === 'bool') return number === 0 ? 0 : 1;
  return dtype === 'int32' || dtype === 'int64' ? Math.trunc(number) : number;
}

/** Drops a pending Expand of an operand where the other operand broadcasts it anyway. */
function unexpanded(x: GraphValue, other: GraphValue, shape: readonly number[]): GraphValue {
  if (x.data !== undefined || x.expandOf === undefined) return x;
  return sameShape(broadcastShape(x.expandOf.shape, other.shape), shape) ? x.expandOf : x;
}

/** An elementwise operator of two operands with broadcasting. */
export function binary(type: string, a: GraphValue, b: GraphValue, dtype: ValueType = a.dtype): GraphValue {
  const shape = broadcastShape(a.shape, b.shape);
  const left = unexpanded(a, b, shape);
  const right = unexpanded(b, left, shape);
  return operation(type, [left, right], dtype, shape);
}

export function add(a: GraphValue, b: GraphValue): GraphValue {
  if (b.splat === 0) return expandTo(a, b);
  if (a.splat === 0) return expandTo(b, a);
  return withProduct(a, b) ?? withProduct(b, a) ?? binary('Add', a, b);
}

/**
 * A matrix product takes along what is added to it: a bias for its columns or a whole matrix, such as a residual.
 * The product by itself is then not computed, unless something else uses it.
 */
function withProduct(product: GraphValue, added: GraphValue): GraphValue | undefined {
  const { producer } = product;
  if (product.data !== undefined || producer?.type !== 'Gemm' || producer.inputs.length !== 2)
    return undefined;
  if (!sameShape(added.shape, product.shape) && !sameShape(added.shape, product.shape.slice(1)))
    return undefined;
  const inputs = [...producer.inputs, added];
  return operation('Gemm', inputs, product.dtype, product.shape, { attributes: producer.attributes });
}

export const subtract = (a: GraphValue, b: GraphValue): GraphValue =>
  b.splat === 0 ? expandTo(a, b) : binary('Sub', a, b);
export const multiply = (a: GraphValue, b: GraphValue): GraphValue =>
  b.splat === 1 ? expandTo(a, b) : a.splat === 1 ? expandTo(b, a) : binary('Mul', a, b);
export const divide = (a: GraphValue, b: GraphValue): GraphValue =>
  b.splat === 1 ? expandTo(a, b) : binary('Div', a, b);
export const compare = (type: string, a: GraphValue, b: GraphValue): GraphValue => binary(type, a, b, 'bool');

function expandTo(x: GraphValue, other: GraphValue): GraphValue {
  return expand(x, broadcastShape(x.shape, other.shape));
}

/** An elementwise operator of one operand. */
export function unary(type: string, x: GraphValue, dtype: ValueType = x.dtype): GraphValue {
  return operation(type, [x], dtype, x.shape);
}

/** `condition ? a : b`, elementwise with broadcasting. */
export function where(condition: GraphValue, a: GraphValue, b: GraphValue): GraphValue {
  // ONNX Runtime has no Where for booleans.
  if (a.dtype === 'bool') return cast(where(condition, cast(a, 'int32'), cast(b, 'int32')), 'bool');
  const shape = broadcastShape(broadcastShape(condition.shape, a.shape), b.shape);
  // TensorFlow.js expands all three beforehand.
  const operands = [condition, a, b];
  operands.forEach((operand, i) => {
    if (operand.data !== undefined || operand.expandOf === undefined) return;
    const others = operands.filter((_, j) => j !== i).map((other) => other.shape);
    if (sameShape(others.reduce(broadcastShape, operand.expandOf.shape), shape))
      operands[i] = operand.expandOf;
  });
  return operation('Where', operands, a.dtype, shape);
}

export function isZero(x: GraphValue): GraphValue {
  return compare('Equal', x, literal(x.dtype, 0));
}

/** The part of `x` from `begin` on, of extents `size`. */
export function slice(x: GraphValue, begin: readonly number[], size: readonly number[]): GraphValue {
  const axes: number[] = [];
  for (let axis = 0; axis < size.length; axis++) if (size[axis] !== x.shape[axis]) axes.push(axis);
  if (axes.length === 0) return x;
  if (x.splat !== undefined && x.expandOf !== undefined && x.expandOf.shape.length === 0)
    return expand(x.expandOf, size);
  const starts = axes.map((axis) => begin[axis]!);
  const ends = axes.map((axis) => begin[axis]! + size[axis]!);
  return operation('Slice', [x, int64Vector(starts), int64Vector(ends), int64Vector(axes)], x.dtype, size);
}

export function transpose(x: GraphValue, permutation: readonly number[]): GraphValue {
  const shape = permutation.map((axis) => x.shape[axis]!);
  const moved = permutation.filter((axis) => x.shape[axis] !== 1);
  const orderKept = moved.every((axis, position) => position === 0 || axis > moved[position - 1]!);
  if (orderKept) return reshape(x, shape);
  return operation('Transpose', [x], x.dtype, shape, { attributes: { perm: permutation } });
}

export type Reduction = 'ReduceSum' | 'ReduceMean' | 'ReduceMax' | 'ReduceMin' | 'ReduceProd';

export function reducedShape(shape: readonly number[], axes: readonly number[], keepDims: boolean): number[] {
  return shape.flatMap((extent, axis) => (!axes.includes(axis) ? [extent] : keepDims ? [1] : []));
}

export function reduce(
  type: Reduction,
  x: GraphValue,
  axes: readonly number[],
  keepDims: boolean,
): GraphValue {
  if (axes.length === 0) return x;
  return operation(type, [x, int64Vector(axes)], x.dtype, reducedShape(x.shape, axes, keepDims), {
    attributes: { keepdims: keepDims ? 1 : 0 },
  });
}

export function concat(values: readonly GraphValue[], axis: number): GraphValue {
  const parts = values.filter((value) => value.shape[axis] !== 0);
  if (parts.length === 0) return values[0]!;
  if (parts.length === 1) return parts[0]!;
  const shape = [...parts[0]!.shape];
  shape[axis] = parts.reduce((sum, part) => sum + part.shape[axis]!, 0);
  return operation('Concat', parts, parts[0]!.dtype, shape, { attributes: { axis } });
}

const sharedRanges = new Map<number, GraphValue>();

/** 0, 1, ..., length - 1 as int32, fed rather than embedded; equal lengths share one array. */
export function range(length: number): GraphValue {
  let value = sharedRanges.get(length);
  if (value === undefined) {
    value = leaf(
      'int32',
      [length],
      Int32Array.from({ length }, (_, index) => index),
    );
    sharedRanges.set(length, value);
  }
  return value;
}

/** Sums rows of `updates` [n, w] that share a row number (int32 [n]) into [rows, w]; other numbers are dropped. */
export function scatterAddRows(updates: GraphValue, rowOf: GraphValue, rows: number): GraphValue {
  const [count, width] = updates.shape as [number, number];
  const dtype = updates.dtype as TensorType;
  if (count === 0 || sizeOf(updates.shape) === 0) return fill(dtype, [rows, width], 0);
  const outside = operation(
    'Or',
    [
      compare('Less', rowOf, literal('int32', 0)),
      compare('GreaterOrEqual', rowOf, constant('int32', [], [rows])),
    ],
    'bool',
    rowOf.shape,
  );
  // Dropped rows go to one extra row, because a negative index would count from the end.
  const target = where(outside, constant('int32', [], [rows]), rowOf);
  const indices = expand(reshape(target, [count, 1]), [count, width]);
  const zeros = fill(dtype, [rows + 1, width], 0);
  // Not ScatterND: with two threads its additions race (onnxruntime 1.30.0) and sums come out wrong.
  const sums = operation('ScatterElements', [zeros, indices, updates], dtype, [rows + 1, width], {
    attributes: { axis: 0, reduction: 'add' },
  });
  return slice(sums, [0, 0], [rows, width]);
}
