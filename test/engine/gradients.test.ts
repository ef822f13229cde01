import { afterAll, beforeAll, expect, it } from 'vitest';
import { startEngine, stopEngine, tf } from '../../src/engine/index.ts';
import { spread } from './kernels/kernel-case.ts';

// The gradients that replace TensorFlow.js's own, against central differences in float64-like precision:
// the functions are polynomials of low degree, for which a wide step is exact.

beforeAll(async () => {
  await startEngine({ backend: 'onnx', threads: 2 });
});
afterAll(stopEngine);

const STEP = 0.25;

const weighted = (y: tf.Tensor): tf.Scalar =>
  tf.sum(tf.mul(y, tf.tensor([...spread(0.5, 1.5, y.shape).values], y.shape)));

const OTHER = spread(-1, 1, [4, 3], 20);
const other = (): tf.Tensor => tf.tensor([...OTHER.values], OTHER.shape);

const FUNCTIONS: [string, number[], (x: tf.Tensor) => tf.Tensor][] = [
  ['Sum over the first axis', [2, 3], (x) => tf.sum(tf.square(x), 0)],
  ['Sum over all axes, kept', [2, 3], (x) => tf.sum(tf.square(x), undefined, true)],
  ['Mean over the last axis', [2, 3], (x) => tf.mean(tf.square(x), -1)],
  ['Mean over two axes', [2, 3, 2], (x) => tf.mean(tf.square(x), [0, 2], true)],
  ['Tile', [2, 3], (x) => tf.tile(tf.square(x), [3, 2])],
  [
    'BatchMatMul, left broadcast',
    [2, 4],
    (x) => tf.matMul(x, tf.reshape(tf.tile(other(), [2, 1]), [2, 4, 3])),
  ],
  [
    'BatchMatMul, right broadcast',
    [3, 2],
    (x) => tf.matMul(tf.reshape(tf.tile(other(), [2, 1]), [2, 4, 3]), x),
  ],
  ['SquaredDifference, a row', [3], (x) => tf.squaredDifference(other(), x)],
  ['Cumsum of the first axis', [3, 2], (x) => tf.cumsum(tf.square(x), 0)],
  ['Cumsum, exclusive and reversed', [3, 2], (x) => tf.cumsum(tf.square(x), 1, true, true)],
];

it.each(FUNCTIONS)('%s', async (_label, shape, f) => {
  const { values } = spread(-1, 1, shape, 3);
  const loss = async (moved: number[]): Promise<number> =>
    (await tf.tidy(() => weighted(f(tf.tensor(moved, shape)))).data())[0]!;
  const gradient = await tf.tidy(() => tf.grad((x) => weighted(f(x)))(tf.tensor([...values], shape))).data();
  for (let i = 0; i < values.length; i++) {
    const moved = (by: number): number[] => values.map((value, j) => (i === j ? value + by : value));
    const slope = ((await loss(moved(STEP))) - (await loss(moved(-STEP)))) / (2 * STEP);
    expect(gradient[i]).toBeCloseTo(slope, 4);
  }
});

it('gives the gradient of a maximum to the larger operand, summed where it had broadcast', async () => {
  const [gradA, gradB] = tf.tidy(() =>
    tf.grads((a, b) => tf.sum(tf.mul(tf.maximum(a!, b!), tf.tensor2d([1, 2, 3, 4, 5, 6], [2, 3]))))([
      tf.tensor2d([1, 5, 1, 5, 1, 5], [2, 3]),
      tf.tensor1d([2, 2, 2]),
    ]),
  );
  expect(Array.from(await gradA!.data())).toEqual([0, 2, 0, 4, 0, 6]);
  expect(Array.from(await gradB!.data())).toEqual([1, 5, 3]);
});

it('gives the gradient of a minimum to the smaller operand', async () => {
  const [gradA, gradB] = tf.tidy(() =>
    tf.grads((a, b) => tf.sum(tf.minimum(a!, b!)))([tf.tensor1d([1, 5, 2]), tf.scalar(2)]),
  );
  expect(Array.from(await gradA!.data())).toEqual([1, 0, 1]);
  expect(Array.from(await gradB!.data())).toEqual([1]);
});
