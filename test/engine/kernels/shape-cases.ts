import { tf } from '../../../src/engine/index.ts';
import { bool, float, int, type KernelCase, kernelCase, spread, spreadInt } from './kernel-case.ts';

const gradient = { gradient: true };

export const shapeCases: KernelCase[] = [
  kernelCase(
    'Reshape',
    'an inferred extent',
    [spread(-1, 1, [2, 6])],
    (x) => tf.reshape(x!, [3, -1]),
    gradient,
  ),
  kernelCase(
    'Reshape',
    'of a pending result, twice',
    [spread(-1, 1, [2, 6])],
    (x) => tf.reshape(tf.reshape(tf.neg(x!), [3, 4]), [2, 6]),
    gradient,
  ),
  kernelCase('Reshape', 'to one number', [spread(-1, 1, [1, 1])], (x) => tf.reshape(x!, []), gradient),
  kernelCase('Reshape', 'nothing', [float([], [0, 3])], (x) => tf.reshape(x!, [3, 0])),
  kernelCase('ExpandDims', 'front', [spread(-1, 1, [2, 3])], (x) => tf.expandDims(x!, 0), gradient),
  kernelCase('ExpandDims', 'back', [spread(-1, 1, [2, 3])], (x) => tf.expandDims(x!, -1), gradient),

  kernelCase('Slice', 'middle', [spread(-1, 1, [4, 5])], (x) => tf.slice(x!, [1, 2], [2, 3]), gradient),
  kernelCase('Slice', 'to the end', [spread(-1, 1, [4, 5])], (x) => tf.slice(x!, [1, 0], [-1, -1]), gradient),
  kernelCase('Slice', 'everything', [spread(-1, 1, [4, 5])], (x) => tf.slice(x!, [0, 0], [4, 5]), gradient),
  kernelCase('Slice', 'nothing', [spread(-1, 1, [4, 5])], (x) => tf.slice(x!, [1, 0], [0, 5])),
  kernelCase('Slice', 'booleans', [bool([1, 0, 1])], (x) => tf.slice(x!, 1, 2)),
  kernelCase('StridedSlice', 'every second', [spreadInt(-9, 9, [7])], (x) =>
    tf.stridedSlice(x!, [0], [7], [2]),
  ),
  kernelCase('StridedSlice', 'backwards', [spreadInt(-9, 9, [7])], (x) =>
    tf.stridedSlice(x!, [6], [0], [-2]),
  ),
  kernelCase('StridedSlice', 'backwards to the very start', [spreadInt(-9, 9, [7])], (x) =>
    tf.stridedSlice(x!, [5], [0], [-1], 0, 1),
  ),
  kernelCase('StridedSlice', 'counted from the end', [spread(-1, 1, [4, 6])], (x) =>
    tf.stridedSlice(x!, [-3, 1], [-1, 5], [1, 2]),
  ),
  kernelCase('StridedSlice', 'an axis removed and one added', [spread(-1, 1, [4, 6])], (x) =>
    tf.stridedSlice(x!, [1, 0, 0], [2, 1, 6], [1, 1, 1], 0, 0, 0, 2, 1),
  ),
  kernelCase('StridedSlice', 'nothing', [spread(-1, 1, [4])], (x) => tf.stridedSlice(x!, [2], [2], [1])),
  kernelCase('Reverse', 'one axis', [spread(-1, 1, [3, 4])], (x) => tf.reverse(x!, 1), gradient),
  kernelCase('Reverse', 'all axes', [spread(-1, 1, [3, 4])], (x) => tf.reverse(x!), gradient),

  kernelCase('SplitV', 'equal parts', [spread(-1, 1, [4, 6])], (x) => tf.split(x!, 3, 1), gradient),
  kernelCase('SplitV', 'given sizes', [spread(-1, 1, [4, 6])], (x) => tf.split(x!, [1, 2, -1], -1), gradient),
  kernelCase('Unpack', 'first axis', [spread(-1, 1, [3, 4])], (x) => tf.unstack(x!), gradient),
  kernelCase('Unpack', 'last axis', [spread(-1, 1, [3, 2])], (x) => tf.unstack(x!, -1), gradient),
  kernelCase(
    'Pack',
    'first axis',
    [spread(-1, 1, [3]), spread(-1, 1, [3], 9)],
    (...x) => tf.stack(x),
    gradient,
  ),
  kernelCase(
    'Pack',
    'last axis',
    [spread(-1, 1, [2, 3]), spread(-1, 1, [2, 3], 9)],
    (...x) => tf.stack(x, 2),
    gradient,
  ),
  kernelCase(
    'Concat',
    'first axis',
    [spread(-1, 1, [2, 3]), spread(-1, 1, [1, 3], 9)],
    (...x) => tf.concat(x),
    gradient,
  ),
  kernelCase(
    'Concat',
    'last axis',
    [spread(-1, 1, [2, 3]), spread(-1, 1, [2, 1], 9), spread(-1, 1, [2, 2], 5)],
    (...x) => tf.concat(x, -1),
    gradient,
  ),
  kernelCase('Concat', 'an empty part', [float([], [0, 3]), spread(-1, 1, [2, 3])], (...x) => tf.concat(x)),
  kernelCase('Concat', 'booleans', [bool([1, 0]), bool([1])], (...x) => tf.concat(x)),

  kernelCase(
    'PadV2',
    'zeros',
    [spread(-1, 1, [2, 3])],
    (x) =>
      tf.pad(x!, [
        [1, 2],
        [0, 1],
      ]),
    gradient,
  ),
  kernelCase(
    'PadV2',
    'a given number',
    [spread(-1, 1, [2, 3])],
    (x) =>
      tf.pad(
        x!,
        [
          [1, 0],
          [2, 2],
        ],
        -7.5,
      ),
    gradient,
  ),
  kernelCase('PadV2', 'integers', [int([1, 2])], (x) => tf.pad(x!, [[1, 1]], 9)),
  kernelCase('PadV2', 'of nothing', [float([], [0])], (x) => tf.pad(x!, [[1, 1]], 3)),
  kernelCase('Tile', 'both axes', [spread(-1, 1, [2, 3])], (x) => tf.tile(x!, [2, 3]), gradient),
  kernelCase('Tile', 'one axis', [spread(-1, 1, [2, 3])], (x) => tf.tile(x!, [1, 2]), gradient),
  kernelCase('Tile', 'broadcastTo', [spread(-1, 1, [3, 1])], (x) => tf.broadcastTo(x!, [2, 3, 4]), gradient),
  kernelCase(
    'Tile',
    'a broadcast tensor in a product',
    [spread(-1, 1, [3, 1]), spread(-1, 1, [3, 4], 9)],
    (x, y) => tf.mul(tf.broadcastTo(x!, [3, 4]), y!),
    gradient,
  ),
  kernelCase('Tile', 'booleans', [bool([1, 0])], (x) => tf.tile(x!, [2])),
];
