import { tf } from '../../../src/engine/index.ts';
import { bool, float, int, type KernelCase, kernelCase, spread, spreadInt } from './kernel-case.ts';

const gradient = { gradient: true };

const gather =
  (axis: number, batchDims = 0) =>
  (x: tf.Tensor, i: tf.Tensor) =>
    tf.gather(x, i as tf.Tensor1D, axis, batchDims);

export const indexingCases: KernelCase[] = [
  kernelCase('GatherV2', 'rows, some twice', [spread(-1, 1, [5, 3]), int([4, 0, 4, 2])], gather(0), gradient),
  kernelCase(
    'GatherV2',
    'a table of token ids',
    [spread(-1, 1, [5, 3]), int([4, 0, 4, 2, 1, 1], [2, 3])],
    gather(0),
    gradient,
  ),
  kernelCase('GatherV2', 'columns', [spread(-1, 1, [2, 5, 3]), int([4, 0, 4])], gather(1), gradient),
  kernelCase('GatherV2', 'the last axis', [spread(-1, 1, [2, 5]), int([4, 0, 4])], gather(-1), gradient),
  kernelCase('GatherV2', 'one index', [spread(-1, 1, [5, 3]), int([3], [])], gather(0)),
  kernelCase('GatherV2', 'integers', [spreadInt(-9, 9, [5]), int([3, 1])], gather(0)),
  kernelCase(
    'GatherV2',
    'own indices per batch element',
    [spread(-1, 1, [2, 5, 3]), int([4, 0, 1, 1], [2, 2])],
    gather(1, 1),
  ),
  kernelCase(
    'GatherV2',
    'own indices, one axis between',
    [spread(-1, 1, [2, 3, 5]), int([4, 0, 1, 1], [2, 2])],
    gather(2, 1),
  ),
  kernelCase('GatherNd', 'elements', [spread(-1, 1, [3, 4]), int([0, 1, 2, 3], [2, 2])], (x, i) =>
    tf.gatherND(x!, i!),
  ),
  kernelCase('GatherNd', 'rows', [spread(-1, 1, [3, 4]), int([2, 0], [2, 1])], (x, i) => tf.gatherND(x!, i!)),
  kernelCase(
    'ScatterNd',
    'rows, some twice',
    [int([1, 3, 1], [3, 1]), spread(-1, 1, [3, 2])],
    (i, u) => tf.scatterND(i!, u!, [4, 2]),
    { gradient: false },
  ),
  kernelCase('ScatterNd', 'elements', [int([0, 1, 2, 0], [2, 2]), int([5, 6])], (i, u) =>
    tf.scatterND(i!, u!, [3, 2]),
  ),
  kernelCase(
    'TensorScatterUpdate',
    'rows',
    [spread(-1, 1, [4, 2]), int([1, 3], [2, 1]), spread(5, 6, [2, 2])],
    (x, i, u) => tf.tensorScatterUpdate(x!, i!, u!),
  ),
  kernelCase(
    'UnsortedSegmentSum',
    'duplicates',
    [spread(-1, 1, [5, 3]), int([1, 0, 1, 3, 1])],
    (x, i) => tf.unsortedSegmentSum(x!, i as tf.Tensor1D, 4),
    gradient,
  ),
  kernelCase(
    'UnsortedSegmentSum',
    'negative and too large numbers are dropped',
    [spread(-1, 1, [5, 3]), int([1, -1, 1, 4, 0])],
    (x, i) => tf.unsortedSegmentSum(x!, i as tf.Tensor1D, 3),
  ),
  kernelCase('OneHot', 'default', [int([0, 2, 1])], (i) => tf.oneHot(i!, 3)),
  kernelCase('OneHot', 'floats of a table', [int([0, 2, 1, 1], [2, 2])], (i) =>
    tf.oneHot(i!, 3, 1, 0, 'float32'),
  ),
  kernelCase('OneHot', 'outside is all off', [int([0, 3, -1])], (i) => tf.oneHot(i!, 3)),
  kernelCase('OneHot', 'other levels', [int([0, 2])], (i) => tf.oneHot(i!, 3, 5, -2, 'float32')),
  kernelCase(
    'OneHot',
    'inside a product',
    [int([0, 2]), spread(-1, 1, [2, 3])],
    (i, x) => tf.mul(tf.oneHot(i!, 3), x!),
    gradient,
  ),

  kernelCase('Fill', 'a given number', [], () => tf.fill([2, 3], 2.5)),
  kernelCase('Fill', 'integers', [], () => tf.fill([2], -3, 'int32')),
  kernelCase(
    'Fill',
    'inside a product',
    [spread(-1, 1, [2, 3])],
    (x) => tf.mul(tf.fill([2, 3], 2.5), x!),
    gradient,
  ),
  kernelCase('ZerosLike', 'floats', [spread(-1, 1, [2, 3])], (x) => tf.zerosLike(x!), gradient),
  kernelCase(
    'ZerosLike',
    'plus a product',
    [spread(-1, 1, [2, 3])],
    (x) => tf.add(tf.zerosLike(x!), tf.square(x!)),
    gradient,
  ),
  kernelCase('ZerosLike', 'booleans', [bool([1, 1])], (x) => tf.zerosLike(x!)),
  kernelCase('OnesLike', 'floats', [spread(-1, 1, [2, 3])], (x) => tf.onesLike(x!), gradient),
  kernelCase(
    'OnesLike',
    'times a column',
    [spread(-1, 1, [2, 3]), spread(-1, 1, [2, 1], 9)],
    (x, y) => tf.mul(tf.onesLike(x!), y!),
    gradient,
  ),
  kernelCase('OnesLike', 'reshaped, cut and converted', [spread(-1, 1, [2, 3])], (x) =>
    tf.cast(tf.slice(tf.reshape(tf.onesLike(x!), [6]), 1, 4), 'int32'),
  ),
  kernelCase('Range', 'up', [], () => tf.range(2, 9, 3)),
  kernelCase('Range', 'down', [], () => tf.range(5, 1, -2, 'int32')),
  kernelCase('Range', 'down by itself', [], () => tf.range(4, 0, 1, 'int32')),
  kernelCase('Range', 'nothing', [], () => tf.range(3, 3)),
  kernelCase('LinSpace', 'five', [], () => tf.linspace(-1, 3, 5)),
  kernelCase('LinSpace', 'one', [], () => tf.linspace(2, 7, 1)),
  kernelCase('GatherV2', 'nothing', [spread(-1, 1, [5, 3]), int([], [0])], gather(0)),
  kernelCase('ScatterNd', 'one number per row', [int([2, 2, 0], [3, 1]), float([1, 2, 4])], (i, u) =>
    tf.scatterND(i!, u!, [3]),
  ),
];
