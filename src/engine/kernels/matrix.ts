import { broadcastShape, cast, fill, transpose } from '../build.ts';
import { sizeOf } from '../dtype.ts';
import type { GraphValue } from '../node.ts';
import { MICROSOFT_DOMAIN, operation } from '../node.ts';
import { booleanAttribute, input, inputList, type KernelTable, stringAttribute } from './kernel.ts';

/** [..., m, k] x [..., k, n] with broadcast batch axes; either side may be given transposed. */
export function matMul(a: GraphValue, b: GraphValue, transposeA: boolean, transposeB: boolean): GraphValue {
  const rows = a.shape.at(transposeA ? -1 : -2)!;
  const columns = b.shape.at(transposeB ? -2 : -1)!;
  const shape = [...broadcastShape(a.shape.slice(0, -2), b.shape.slice(0, -2)), rows, columns];
  if (sizeOf(a.shape) === 0 || sizeOf(b.shape) === 0) return fill('float32', shape, 0);
  if (!transposeA && !transposeB) return operation('MatMul', [a, b], a.dtype, shape);
  const attributes = { transA: transposeA ? 1 : 0, transB: transposeB ? 1 : 0 };
  if (a.dtype !== 'float32')
    return matMul(transposeA ? swapLastTwo(a) : a, transposeB ? swapLastTwo(b) : b, false, false);
  if (a.shape.length === 2 && b.shape.length === 2)
    return operation('Gemm', [a, b], 'float32', shape, { attributes });
  return operation('FusedMatMul', [a, b], 'float32', shape, { attributes, domain: MICROSOFT_DOMAIN });
}

function swapLastTwo(x: GraphValue): GraphValue {
  const rank = x.shape.length;
  const permutation = x.shape.map((_, axis) => axis);
  permutation[rank - 2] = rank - 1;
  permutation[rank - 1] = rank - 2;
  return transpose(x, permutation);
}

export const matrixKernels: KernelTable = {
  BatchMatMul: (inputs, attributes) =>
    matMul(
      input(inputs, 'a'),
      input(inputs, 'b'),
      booleanAttribute(attributes, 'transposeA'),
      booleanAttribute(attributes, 'transposeB'),
    ),
  Einsum: (inputs, attributes) => {
    const operands = inputList(inputs).map((value) => cast(value, 'float32'));
    const equation = stringAttribute(attributes, 'equation').replaceAll(' ', '');
    return operation('Einsum', operands, 'float32', einsumShape(equation, operands), {
      attributes: { equation },
    });
  },
};

/** TensorFlow.js's einsum requires an explicit output, so its letters name the extents. */
function einsumShape(equation: string, operands: readonly GraphValue[]): number[] {
  const [left, right] = equation.split('->') as [string, string];
  const extents = new Map<string, number>();
  left.split(',').forEach((letters, i) => {
    [...letters].forEach((letter, axis) => {
      extents.set(letter, operands[i]!.shape[axis]!);
    });
  });
  return [...right].map((letter) => extents.get(letter)!);
}
