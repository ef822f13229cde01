import { cast, fill, type Reduction, reduce, reducedShape, unary, where } from '../build.ts';
import { sizeOf } from '../dtype.ts';
import type { GraphValue } from '../node.ts';
import { int64Vector, literal, operation, operationWithOutputs } from '../node.ts';

import {
  booleanAttribute,
  input,
  type KernelTable,
  type LazyKernel,
  normalizedAxes,
  numberAttribute,
  optionalNumbersAttribute,
} from './kernel.ts';

/** What a reduction over no elements gives: its neutral element. */
const NEUTRAL: Record<Reduction, number> = {
  ReduceSum: 0,
  ReduceMean: Number.NaN,
  ReduceProd: 1,
  ReduceMax: Number.NEGATIVE_INFINITY,
  ReduceMin: Number.POSITIVE_INFINITY,
};

function reduction(type: Reduction, prepare: (x: GraphValue) => GraphValue): LazyKernel {
  return (inputs, attributes) => {
    const x = prepare(input(inputs, 'x'));
    // Max alone calls its axes reductionIndices.
    const named =
      optionalNumbersAttribute(attributes, 'axis') ??
      optionalNumbersAttribute(attributes, 'reductionIndices');
    const axes = normalizedAxes(named?.length === 0 ? undefined : named, x.shape.length);
    const keepDims = booleanAttribute(attributes, 'keepDims');
    if (sizeOf(x.shape) === 0) {
      const dtype = x.dtype === 'int32' ? 'int32' : 'float32';
      return fill(dtype, reducedShape(x.shape, axes, keepDims), NEUTRAL[type]);
    }
    const reduced = reduce(type, x, axes, keepDims);
    if (x.dtype !== 'float32' || (type !== 'ReduceMax' && type !== 'ReduceMin')) return reduced;
    // ONNX Runtime's maximum and minimum ignore a NaN that isn't the first element.
    const anyNaN = reduce('ReduceMax', unary('IsNaN', x, 'bool'), axes, keepDims);
    return where(anyNaN, literal('float32', Number.NaN), reduced);
  };
}

const countable = (x: GraphValue): GraphValue => (x.dtype === 'bool' ? cast(x, 'int32') : x);
const real = (x: GraphValue): GraphValue => cast(x, 'float32');

function truth(type: Reduction): LazyKernel {
  const count = reduction(type, (x) => cast(x, 'int32'));
  return (inputs, attributes) => cast(count(inputs, attributes) as GraphValue, 'bool');
}

/** ArgMax and ArgMin: the first of equal elements. */
function position(type: string): LazyKernel {
  return (inputs, attributes) => {
    const x = countable(input(inputs, 'x'));
    const axis = normalizedAxes([numberAttribute(attributes, 'axis')], x.shape.length)[0]!;
    const shape = reducedShape(x.shape, [axis], false);
    const found = operation(type, [x], 'int64', shape, { attributes: { axis, keepdims: 0 } });
    return cast(found, 'int32');
  };
}

const cumulativeSum: LazyKernel = (inputs, attributes) => {
  const x = countable(input(inputs, 'x'));
  if (x.shape.length === 0) return x;
  const axis = normalizedAxes([numberAttribute(attributes, 'axis')], x.shape.length)[0]!;
  return operation('CumSum', [x, literal('int64', axis)], x.dtype, x.shape, {
    attributes: {
      exclusive: booleanAttribute(attributes, 'exclusive') ? 1 : 0,
      reverse: booleanAttribute(attributes, 'reverse') ? 1 : 0,
    },
  });
};

const topK: LazyKernel = (inputs, attributes) => {
  const x = countable(input(inputs, 'x'));
  const k = numberAttribute(attributes, 'k');
  const shape = [...x.shape.slice(0, -1), k];
  if (sizeOf(shape) === 0) return [fill('float32', shape, 0), fill('int32', shape, 0)];
  const [values, indices] = operationWithOutputs(
    'TopK',
    [x, int64Vector([k])],
    [
      { dtype: x.dtype, shape },
      { dtype: 'int64', shape },
    ],
    { attributes: { axis: -1, largest: 1, sorted: booleanAttribute(attributes, 'sorted') ? 1 : 0 } },
  );
  return [values!, cast(indices!, 'int32')];
};

const softmax =
  (type: string, axisOf: string): LazyKernel =>
  (inputs, attributes) => {
    const x = real(input(inputs, 'logits'));
    const axis = normalizedAxes([numberAttribute(attributes, axisOf)], x.shape.length)[0]!;
    return operation(type, [x], 'float32', x.shape, { attributes: { axis } });
  };

export const reductionKernels: KernelTable = {
  Sum: reduction('ReduceSum', countable),
  Mean: reduction('ReduceMean', real),
  Max: reduction('ReduceMax', countable),
  Min: reduction('ReduceMin', countable),
  Prod: reduction('ReduceProd', countable),
  All: truth('ReduceMin'),
  Any: truth('ReduceMax'),
  ArgMax: position('ArgMax'),
  ArgMin: position('ArgMin'),
  Cumsum: cumulativeSum,
  TopK: topK,
  Softmax: softmax('Softmax', 'dim'),
  LogSoftmax: softmax('LogSoftmax', 'axis'),
};
