import { tf } from '../../../src/engine/index.ts';
import { float, type KernelCase, kernelCase, spread, spreadInt } from './kernel-case.ts';

/** Batch axes of the two operands. */
const BATCHES: [number[], number[]][] = [
  [[], []],
  [[2], [2]],
  [
    [2, 3],
    [2, 3],
  ],
  [[2], [1]],
  [[2, 3], []],
];

const swapped = (shape: number[], swap: boolean): number[] => (swap ? shape.toReversed() : shape);

export const matrixCases: KernelCase[] = [
  ...BATCHES.flatMap(([batchA, batchB]) =>
    [false, true].flatMap((transposeA) =>
      [false, true].map((transposeB) => {
        const a = [...batchA, ...swapped([4, 5], transposeA)];
        const b = [...batchB, ...swapped([5, 3], transposeB)];
        return kernelCase(
          'BatchMatMul',
          `[${a}]${transposeA ? "'" : ''} x [${b}]${transposeB ? "'" : ''}`,
          [spread(-1, 1, a), spread(-1, 1, b, 50)],
          (x, y) => tf.matMul(x!, y!, transposeA, transposeB),
          { gradient: true },
        );
      }),
    ),
  ),
  kernelCase(
    'BatchMatMul',
    'large enough for two threads',
    [spread(-1, 1, [96, 128]), spread(-1, 1, [128, 192], 7)],
    (a, b) => tf.matMul(a!, b!),
    { tolerance: 2e-5 },
  ),
  kernelCase(
    'BatchMatMul',
    'not a number',
    [float([1, Number.NaN, 2, 3], [2, 2]), float([1, 2, 3, 4], [2, 2])],
    (a, b) => tf.matMul(a!, b!),
  ),
  kernelCase('BatchMatMul', 'nothing to sum over', [float([], [2, 0]), float([], [0, 3])], (a, b) =>
    tf.matMul(a!, b!),
  ),
  kernelCase('Einsum', 'matrix product', [spread(-1, 1, [2, 3]), spread(-1, 1, [3, 4], 9)], (a, b) =>
    tf.einsum('ij,jk->ik', a!, b!),
  ),
  kernelCase('Einsum', 'attention scores', [spread(-1, 1, [2, 3, 4]), spread(-1, 1, [2, 5, 4], 9)], (a, b) =>
    tf.einsum('bqd,bkd->bqk', a!, b!),
  ),
  kernelCase('Einsum', 'transpose', [spread(-1, 1, [2, 3])], (a) => tf.einsum('ij->ji', a!)),

  kernelCase('Transpose', 'two axes', [spread(-1, 1, [3, 4])], (x) => tf.transpose(x!), { gradient: true }),
  kernelCase('Transpose', 'four axes', [spread(-1, 1, [2, 3, 4, 5])], (x) => tf.transpose(x!, [0, 2, 1, 3]), {
    gradient: true,
  }),
  kernelCase(
    'Transpose',
    'axes of extent 1',
    [spread(-1, 1, [1, 3, 1, 4])],
    (x) => tf.transpose(x!, [1, 0, 3, 2]),
    { gradient: true },
  ),
  kernelCase('Transpose', 'integers', [spreadInt(-5, 5, [2, 3])], (x) => tf.transpose(x!)),
  kernelCase('Transpose', 'order kept', [spread(-1, 1, [2, 3])], (x) => tf.transpose(x!, [0, 1])),
];
