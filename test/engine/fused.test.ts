import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import { rmsNorm, rotate, startEngine, stopEngine, tf } from '../../src/engine/index.ts';

const rng = new Rng(3);
const normals = (count: number): number[] => Array.from({ length: count }, () => rng.normal());

function expectClose(actual: ArrayLike<number>, expected: readonly number[]): void {
  expect(actual.length).toBe(expected.length);
  expected.forEach((x, i) => {
    expect(actual[i]).toBeCloseTo(x, 4);
  });
}

const [ROWS, WIDTH, EPSILON] = [5, 12, 1e-6];
const norm = {
  x: normals(ROWS * WIDTH),
  gain: normals(WIDTH),
  /** What the result is weighted with, which is the gradient that comes back. */
  dy: normals(ROWS * WIDTH),
};

/** sum(dy * norm(x) * gain) by the definition, in double precision. */
function weightedNorm(x: readonly number[], gain: readonly number[]): number {
  let sum = 0;
  for (let row = 0; row < ROWS; row++) {
    const values = x.slice(row * WIDTH, (row + 1) * WIDTH);
    const scale = 1 / Math.sqrt(values.reduce((s, v) => s + v * v, 0) / WIDTH + EPSILON);
    values.forEach((v, i) => {
      sum += norm.dy[row * WIDTH + i]! * v * scale * gain[i]!;
    });
  }
  return sum;
}

/** Central differences of a function of some numbers. */
function slopes(f: (at: readonly number[]) => number, at: readonly number[]): number[] {
  const step = 1e-5;
  const moved = (i: number, by: number): number[] => at.map((x, j) => (j === i ? x + by : x));
  return at.map((_, i) => (f(moved(i, step)) - f(moved(i, -step))) / (2 * step));
}

const [BATCH, LENGTH, HEADS, HALF] = [2, 3, 2, 4];
const turned = normals(BATCH * LENGTH * HEADS * 2 * HALF);
const pulled = normals(turned.length);

/** Each pair (i, i + D/2) as a complex number times exp(sign * i * angle), [B, T, heads, D]. */
function rotatePlainly(x: readonly number[], angles: readonly number[], sign: number): number[] {
  return x.map((_, at) => {
    const [i, head] = [at % (2 * HALF), at - (at % (2 * HALF))];
    const pair = i % HALF;
    const token = Math.floor(at / (2 * HALF * HEADS));
    const angle = sign * angles[(token * HALF + pair) % angles.length]!;
    const [a, b] = [x[head + pair]!, x[head + pair + HALF]!];
    return i < HALF ? a * Math.cos(angle) - b * Math.sin(angle) : b * Math.cos(angle) + a * Math.sin(angle);
  });
}

describe.each(['onnx', 'cpu'] as const)('on the backend %s', (backend) => {
  beforeAll(async () => {
    await startEngine(backend === 'onnx' ? { backend, threads: 2 } : { backend });
  });
  afterAll(stopEngine);

  it('rmsNorm and its gradients are those of the definition', () => {
    const [value, dx, dGain] = tf.tidy(() => {
      const weighted = (x: tf.Tensor, gain: tf.Tensor): tf.Scalar =>
        tf.sum(
          tf.mul(
            rmsNorm(x as tf.Tensor2D, gain as tf.Tensor1D, EPSILON),
            tf.tensor2d(norm.dy, [ROWS, WIDTH]),
          ),
        );
      const inputs = [tf.tensor2d(norm.x, [ROWS, WIDTH]), tf.tensor1d(norm.gain)];
      const { value, grads } = tf.valueAndGrads(weighted)(inputs);
      return [value, ...grads].map((tensor) => tensor.dataSync());
    });
    expectClose(value!, [weightedNorm(norm.x, norm.gain)]);
    expectClose(
      dx!,
      slopes((x) => weightedNorm(x, norm.gain), norm.x),
    );
    expectClose(
      dGain!,
      slopes((gain) => weightedNorm(norm.x, gain), norm.gain),
    );
  });

  it.each([
    ['a row of the tables for each token', BATCH * LENGTH],
    ['the same rows for every sequence', LENGTH],
  ])('rotate turns pairs, and its gradient turns them back: %s', (_, rows) => {
    const angles = normals(rows * HALF);
    const shape: [number, number, number, number] = [BATCH, LENGTH, HEADS, 2 * HALF];
    const [value, gradient] = tf.tidy(() => {
      const cos = tf.tensor2d(angles.map(Math.cos), [rows, HALF]);
      const sin = tf.tensor2d(angles.map(Math.sin), [rows, HALF]);
      const turn = (x: tf.Tensor4D): tf.Tensor4D => rotate(x, cos, sin);
      const x = tf.tensor4d(turned, shape);
      const dx = tf.grad((at) => turn(at as tf.Tensor4D))(x, tf.tensor4d(pulled, shape));
      return [turn(x).dataSync(), dx.dataSync()];
    });
    expectClose(value!, rotatePlainly(turned, angles, 1));
    expectClose(gradient!, rotatePlainly(pulled, angles, -1));
  });

  it('a matrix product with a bias and the product by itself', () => {
    const [biased, plain] = tf.tidy(() => {
      const product = tf.matMul(
        tf.tensor2d([1, 2, 3, 4], [2, 2]),
        tf.tensor2d([1, 1, 0, 1, 2, 0], [3, 2]),
        false,
        true,
      );
      return [tf.add(product, tf.tensor1d([10, 20, 30])).dataSync(), product.dataSync()];
    });
    expect([...biased!]).toEqual([13, 22, 32, 17, 24, 36]);
    expect([...plain!]).toEqual([3, 2, 2, 7, 4, 6]);
  });
});
