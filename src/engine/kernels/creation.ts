import { fill } from '../build.ts';
import { allocate, isTensorType, type TensorType } from '../dtype.ts';
import type { GraphValue } from '../node.ts';
import { leaf } from '../node.ts';
import {
  input,
  type KernelAttributes,
  type KernelTable,
  numberAttribute,
  numbersAttribute,
  stringAttribute,
} from './kernel.ts';

export const creationKernels: KernelTable = {
  Fill: (_inputs, attributes) =>
    fill(namedType(attributes), numbersAttribute(attributes, 'shape'), numberAttribute(attributes, 'value')),
  ZerosLike: (inputs) => filledLike(input(inputs, 'x'), 0),
  OnesLike: (inputs) => filledLike(input(inputs, 'x'), 1),
  Range: (_inputs, attributes) =>
    range(
      numberAttribute(attributes, 'start'),
      numberAttribute(attributes, 'stop'),
      numberAttribute(attributes, 'step'),
      namedType(attributes),
    ),
  LinSpace: (_inputs, attributes) => {
    const start = numberAttribute(attributes, 'start');
    const count = numberAttribute(attributes, 'num');
    const step = count > 1 ? (numberAttribute(attributes, 'stop') - start) / (count - 1) : 0;
    return leaf(
      'float32',
      [count],
      Float32Array.from({ length: count }, (_, i) => start + i * step),
    );
  },
};

function filledLike(x: GraphValue, number: number): GraphValue {
  return fill(x.dtype as TensorType, x.shape, number);
}

function namedType(attributes: KernelAttributes): TensorType {
  if (attributes.dtype === undefined) return 'float32';
  const name = stringAttribute(attributes, 'dtype');
  return isTensorType(name) ? name : 'float32';
}

/** TensorFlow.js counts down by itself where the stop lies below the start and the step was left at 1. */
function range(start: number, stop: number, step: number, dtype: TensorType): GraphValue {
  const impossible = start === stop || (start < stop && step < 0) || (stop < start && step > 1);
  const count = impossible ? 0 : Math.abs(Math.ceil((stop - start) / step));
  const signedStep = stop < start && step === 1 ? -1 : step;
  const data = allocate(dtype, count);
  for (let i = 0; i < count; i++) data[i] = start + i * signedStep;
  return leaf(dtype, [count], data);
}
