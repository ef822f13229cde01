import { afterAll, beforeAll, expect, it } from 'vitest';
import { startEngine, stopEngine, tf } from '../../src/engine/index.ts';
import { spread } from './kernels/kernel-case.ts';

// TensorFlow.js's plain backend mixes up the batches where both operands broadcast, so it is no reference here.

beforeAll(async () => {
  await startEngine({ backend: 'onnx', threads: 2 });
});
afterAll(stopEngine);

const [P, Q, M, K, N] = [2, 3, 4, 5, 2] as const;
const A = spread(-1, 1, [1, Q, M, K]).values;
const B = spread(-1, 1, [P, 1, K, N], 50).values;

it.each([
  [false, false],
  [false, true],
  [true, false],
  [true, true],
])('broadcasts both batches, transposed %s and %s', async (transposeA, transposeB) => {
  const expected: number[] = [];
  for (let p = 0; p < P; p++)
    for (let q = 0; q < Q; q++)
      for (let m = 0; m < M; m++)
        for (let n = 0; n < N; n++) {
          let sum = 0;
          for (let k = 0; k < K; k++) sum += A[(q * M + m) * K + k]! * B[(p * K + k) * N + n]!;
          expected.push(sum);
        }
  const got = tf.tidy(() => {
    const a = tf.tensor([...A], [1, Q, M, K]);
    const b = tf.tensor([...B], [P, 1, K, N]);
    return tf.matMul(
      transposeA ? tf.transpose(a, [0, 1, 3, 2]) : a,
      transposeB ? tf.transpose(b, [0, 1, 3, 2]) : b,
      transposeA,
      transposeB,
    );
  });
  expect(got.shape).toEqual([P, Q, M, N]);
  const values = await got.data();
  expected.forEach((value, i) => {
    expect(values[i]).toBeCloseTo(value, 5);
  });
});

it('sums gradients over the broadcast batches', async () => {
  const gradients = tf.tidy(() =>
    tf.grads((a, b) => tf.sum(tf.matMul(a!, b!)))([
      tf.tensor([...A], [1, Q, M, K]),
      tf.tensor([...B], [P, 1, K, N]),
    ]),
  );
  // d/dA[q,m,k] of the sum over p,n of A B is the sum of B[p,k,n]; likewise for B.
  const [gradA, gradB] = await Promise.all(gradients.map((gradient) => gradient.data()));
  let wantedA = 0;
  for (let p = 0; p < P; p++) for (let n = 0; n < N; n++) wantedA += B[(p * K + 3) * N + n]!;
  let wantedB = 0;
  for (let q = 0; q < Q; q++) for (let m = 0; m < M; m++) wantedB += A[(q * M + m) * K + 3]!;
  expect(gradA![3]).toBeCloseTo(wantedA, 5);
  expect(gradB![3 * N]).toBeCloseTo(wantedB, 5);
});
