import { tf } from '../../../src/engine/index.ts';
import { bool, float, int, type KernelCase, kernelCase, SPECIAL, spread, spreadInt } from './kernel-case.ts';

type Binary = (a: tf.Tensor, b: tf.Tensor) => tf.Tensor;

const ARITHMETIC: {
  kernel: string;
  run: Binary;
  positive?: boolean;
  tolerance?: number;
  gradient?: boolean;
}[] = [
  { kernel: 'Add', run: tf.add },
  { kernel: 'Sub', run: tf.sub },
  { kernel: 'Multiply', run: tf.mul },
  { kernel: 'RealDiv', run: tf.div, positive: true, tolerance: 1e-5 },
  { kernel: 'Pow', run: tf.pow, positive: true, tolerance: 1e-5 },
  { kernel: 'Maximum', run: tf.maximum },
  { kernel: 'Minimum', run: tf.minimum },
  { kernel: 'SquaredDifference', run: tf.squaredDifference },
  { kernel: 'Mod', run: tf.mod, positive: true },
  { kernel: 'FloorDiv', run: tf.floorDiv, gradient: false },
];

const COMPARISONS: { kernel: string; run: Binary }[] = [
  { kernel: 'Equal', run: tf.equal },
  { kernel: 'NotEqual', run: tf.notEqual },
  { kernel: 'Greater', run: tf.greater },
  { kernel: 'GreaterEqual', run: tf.greaterEqual },
  { kernel: 'Less', run: tf.less },
  { kernel: 'LessEqual', run: tf.lessEqual },
];

/** Shapes of the operands: equal, and every way of broadcasting. */
const SHAPES: [string, number[], number[]][] = [
  ['equal shapes', [3, 4], [3, 4]],
  ['a row', [3, 4], [4]],
  ['a column', [3, 4], [3, 1]],
  ['outer product', [3, 1], [4]],
  ['a single number', [3, 4], []],
  ['three axes', [2, 1, 3], [2, 4, 1]],
];

const every = (numbers: readonly number[]): [number[], number[]] => [
  numbers.flatMap((a) => numbers.map(() => a)),
  numbers.flatMap(() => numbers),
];

const [specialA, specialB] = every(
  SPECIAL.values.filter((value) => Math.abs(value) < 1e30 || !Number.isFinite(value)),
);
const [intA, intB] = every([-7, -3, -1, 0, 1, 2, 7, 100]);
const [boolA, boolB] = every([0, 1]);

export const binaryCases: KernelCase[] = [
  ...ARITHMETIC.flatMap(({ kernel, run, positive = false, tolerance = 2e-6, gradient = true }) => {
    const low = positive ? 0.5 : -2;
    return [
      ...SHAPES.flatMap(([label, a, b]) => [
        kernelCase(kernel, label, [spread(low, 2.5, a), spread(low, 2.5, b, 40)], run, {
          gradient,
          tolerance,
        }),
        kernelCase(kernel, `${label}, reversed`, [spread(low, 2.5, b), spread(low, 2.5, a, 40)], run, {
          gradient,
          tolerance,
        }),
      ]),
      kernelCase(kernel, 'no numbers', [float([], [0, 3]), float([1, 2, 3])], run),
    ];
  }),
  ...ARITHMETIC.filter(({ kernel }) => kernel !== 'FloorDiv').map(({ kernel, run }) =>
    kernelCase(kernel, 'special numbers', [float(specialA), float(specialB)], run, { tolerance: 1e-5 }),
  ),
  ...ARITHMETIC.filter(({ kernel }) => !['RealDiv', 'Pow'].includes(kernel)).map(({ kernel, run }) =>
    kernelCase(kernel, 'integers of either sign', [int(intA), int(intB)], run),
  ),
  kernelCase(
    'FloorDiv',
    'floats of either sign',
    [float([7, -7, 7, -7]), float([2, 2, -2, -2])],
    tf.floorDiv,
  ),
  kernelCase('FloorDiv', 'the largest integers', [int([2147483647, -2147483648]), int([2, 3])], tf.floorDiv),
  kernelCase('Pow', 'integers', [int([2, -3, 5, 0]), int([3, 3, 0, 2])], tf.pow),
  kernelCase('Pow', 'negative bases', [float([-2, -2, -0.5, 0, 0]), float([3, 2, -1, 0, 2])], tf.pow),
  kernelCase(
    'AddN',
    'three floats',
    [spread(-1, 1, [2, 3]), spread(-1, 1, [2, 3], 9), spread(-1, 1, [2, 3], 17)],
    (...x) => tf.addN(x),
    { gradient: true },
  ),
  kernelCase('AddN', 'two integers', [int([1, 2]), int([3, 4])], (...x) => tf.addN(x)),

  ...COMPARISONS.flatMap(({ kernel, run }) => [
    kernelCase(kernel, 'special numbers', [float(specialA), float(specialB)], run),
    kernelCase(kernel, 'integers', [int(intA), int(intB)], run),
    kernelCase(kernel, 'booleans', [bool(boolA), bool(boolB)], run),
    ...SHAPES.map(([label, a, b]) =>
      kernelCase(kernel, label, [spreadInt(0, 3, a), spreadInt(0, 3, b, 5)], run),
    ),
  ]),

  kernelCase('LogicalAnd', 'truth table', [bool(boolA), bool(boolB)], tf.logicalAnd),
  kernelCase('LogicalOr', 'truth table', [bool(boolA), bool(boolB)], tf.logicalOr),
  kernelCase('LogicalOr', 'broadcast', [bool([0, 1], [2, 1]), bool([0, 0, 1])], tf.logicalOr),
  kernelCase('LogicalNot', 'truth table', [bool([0, 1])], tf.logicalNot),
  kernelCase('LogicalNot', 'exclusive or', [bool(boolA), bool(boolB)], tf.logicalXor),

  kernelCase(
    'Select',
    'floats',
    [bool([1, 0, 1, 0]), spread(-1, 1, [4]), spread(-1, 1, [4], 9)],
    (c, a, b) => tf.where(c!, a!, b!),
    { gradient: true },
  ),
  kernelCase(
    'Select',
    'broadcast condition',
    [bool([1, 0], [2, 1]), spread(-1, 1, [2, 3]), spread(-1, 1, [3], 9)],
    (c, a, b) => tf.where(c!, a!, b!),
    { gradient: true },
  ),
  kernelCase('Select', 'integers', [bool([1, 0]), int([1, 2]), int([3, 4])], (c, a, b) =>
    tf.where(c!, a!, b!),
  ),
  kernelCase('Select', 'booleans', [bool([1, 0, 1, 0]), bool([1, 1, 0, 0]), bool([0, 1, 0, 1])], (c, a, b) =>
    tf.where(c!, a!, b!),
  ),
  kernelCase(
    'Select',
    'the branch not taken may be NaN',
    [bool([1, 0]), float([1, Number.NaN]), float([Number.NaN, 2])],
    (c, a, b) => tf.where(c!, a!, b!),
  ),
];
