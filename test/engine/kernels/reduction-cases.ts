import { tf } from '../../../src/engine/index.ts';
import { bool, float, int, type KernelCase, kernelCase, spread, spreadInt } from './kernel-case.ts';

type Reduce = (x: tf.Tensor, axis?: number | number[], keepDims?: boolean) => tf.Tensor;

const REDUCTIONS: { kernel: string; reduce: Reduce; gradient?: boolean }[] = [
  { kernel: 'Sum', reduce: tf.sum },
  { kernel: 'Mean', reduce: tf.mean },
  { kernel: 'Max', reduce: tf.max },
  { kernel: 'Min', reduce: tf.min },
  // TensorFlow.js's gradient of a product needs Cumprod, which is delegated.
  { kernel: 'Prod', reduce: tf.prod, gradient: false },
];

const WITH_NAN = float([1, Number.NaN, 3, 4, 5, 6], [2, 3]);
const WITH_INFINITY = float([1, Number.POSITIVE_INFINITY, 3, Number.NEGATIVE_INFINITY, 5, 6], [2, 3]);

export const reductionCases: KernelCase[] = [
  ...REDUCTIONS.flatMap(({ kernel, reduce, gradient = true }) => [
    kernelCase(kernel, 'all axes', [spread(0.3, 2, [2, 3, 4])], (x) => reduce(x!), {
      gradient,
      tolerance: 1e-5,
    }),
    kernelCase(kernel, 'the last axis', [spread(0.3, 2, [2, 3, 4])], (x) => reduce(x!, -1), {
      gradient,
    }),
    kernelCase(kernel, 'the first axis, kept', [spread(0.3, 2, [2, 3, 4])], (x) => reduce(x!, 0, true), {
      gradient,
    }),
    kernelCase(kernel, 'two axes', [spread(0.3, 2, [2, 3, 4])], (x) => reduce(x!, [0, 2]), {
      gradient,
      tolerance: 1e-5,
    }),
    kernelCase(kernel, 'the middle axis', [spread(0.3, 2, [2, 3, 4])], (x) => reduce(x!, 1), {
      gradient,
    }),
    kernelCase(kernel, 'no axis', [spread(0.3, 2, [])], (x) => reduce(x!)),
    kernelCase(kernel, 'not a number', [WITH_NAN], (x) => reduce(x!, 1)),
    kernelCase(kernel, 'infinities', [WITH_INFINITY], (x) => reduce(x!, 1)),
    kernelCase(kernel, 'integers', [spreadInt(-4, 5, [3, 4])], (x) => reduce(x!, 1)),
    kernelCase(
      kernel,
      'large enough for two threads',
      [spread(0.99, 1.01, [96, 1024])],
      (x) => reduce(x!, 1),
      { tolerance: 1e-4 },
    ),
  ]),
  kernelCase('Sum', 'booleans', [bool([1, 0, 1, 1], [2, 2])], (x) => tf.sum(x!, 0)),
  kernelCase('Sum', 'nothing', [float([], [2, 0])], (x) => tf.sum(x!, 1)),
  kernelCase('Prod', 'nothing', [float([], [2, 0])], (x) => tf.prod(x!, 1)),
  kernelCase('All', 'rows', [bool([1, 0, 1, 1], [2, 2])], (x) => tf.all(x!, 1)),
  kernelCase('All', 'everything', [bool([1, 1])], (x) => tf.all(x!)),
  kernelCase('Any', 'rows', [bool([1, 0, 0, 0], [2, 2])], (x) => tf.any(x!, 1)),
  kernelCase('ArgMax', 'the first of equals', [float([1, 3, 3, 2, 2, 0], [2, 3])], (x) => tf.argMax(x!, 1)),
  kernelCase('ArgMax', 'the first axis', [spread(-1, 1, [4, 3])], (x) => tf.argMax(x!, 0)),
  kernelCase('ArgMax', 'integers', [int([1, 5, -2])], (x) => tf.argMax(x!)),
  kernelCase('ArgMin', 'the first of equals', [float([1, 0, 0, 2, 2, 3], [2, 3])], (x) => tf.argMin(x!, 1)),
  ...[false, true].flatMap((exclusive) =>
    [false, true].map((reverse) =>
      kernelCase(
        'Cumsum',
        `exclusive ${exclusive}, reversed ${reverse}`,
        [spread(-1, 1, [3, 5])],
        (x) => tf.cumsum(x!, 1, exclusive, reverse),
        { gradient: true },
      ),
    ),
  ),
  kernelCase('Cumsum', 'the first axis', [spread(-1, 1, [3, 5])], (x) => tf.cumsum(x!, 0), {
    gradient: true,
  }),
  kernelCase('Cumsum', 'integers', [int([1, 2, 3])], (x) => tf.cumsum(x!)),
  kernelCase('TopK', 'sorted', [spread(-1, 1, [3, 6])], (x) => {
    const { values, indices } = tf.topk(x!, 4);
    return [values, indices];
  }),
  kernelCase('TopK', 'equal numbers', [float([1, 2, 2, 1])], (x) => {
    const { values, indices } = tf.topk(x!, 3);
    return [values, indices];
  }),
  kernelCase('TopK', 'integers', [int([3, -1, 7])], (x) => {
    const { values, indices } = tf.topk(x!, 2);
    return [values, indices];
  }),
  kernelCase('Softmax', 'rows', [spread(-4, 4, [3, 5])], (x) => tf.softmax(x!), { gradient: true }),
  kernelCase(
    'Softmax',
    'masked and large',
    [float([1000, -1e9, 999, Number.NEGATIVE_INFINITY], [1, 4])],
    (x) => tf.softmax(x!),
  ),
  kernelCase('Softmax', 'large enough for two threads', [spread(-4, 4, [96, 512])], (x) => tf.softmax(x!)),
];
