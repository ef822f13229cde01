import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { engineStats, startEngine, stopEngine, tf } from '../../../src/engine/index.ts';
import { LAZY_KERNELS } from '../../../src/engine/kernels/index.ts';
import { binaryCases } from './binary-cases.ts';
import { indexingCases } from './indexing-cases.ts';
import { type CaseTensor, type KernelCase, spread } from './kernel-case.ts';
import { matrixCases } from './matrix-cases.ts';
import { reductionCases } from './reduction-cases.ts';
import { shapeCases } from './shape-cases.ts';
import { unaryCases } from './unary-cases.ts';

const CASES = [
  ...unaryCases,
  ...binaryCases,
  ...reductionCases,
  ...matrixCases,
  ...shapeCases,
  ...indexingCases,
];

/** Kernels that no public TensorFlow.js function calls, with tests of their own below. */
const CALLED_BY_NAME = new Set(['LogSoftmax']);

interface Outcome {
  outputs: CaseTensor[];
  gradients: CaseTensor[];
}

beforeAll(async () => {
  await startEngine({ backend: 'onnx', threads: 2 });
});
afterAll(stopEngine);

it.each(CASES)('$kernel: $label', async (testCase) => {
  const expected = await computeOn('cpu', testCase);
  const call = vi.spyOn(tf.getKernel(testCase.kernel, 'onnx'), 'kernelFunc');
  const delegated = Object.keys(engineStats().delegated).length;
  const got = await computeOn('onnx', testCase);
  expect(call, 'the case must reach its kernel').toHaveBeenCalled();
  call.mockRestore();
  expect(Object.keys(engineStats().delegated)).toHaveLength(delegated);
  expectSame(got, expected, testCase.tolerance);
});

it('has a case for every kernel', () => {
  const tested = new Set(CASES.map(({ kernel }) => kernel));
  const untested = Object.keys(LAZY_KERNELS).filter((name) => !tested.has(name) && !CALLED_BY_NAME.has(name));
  expect(untested).toEqual([]);
});

it('computes LogSoftmax, a kernel that only graph importers call', async () => {
  await tf.setBackend('onnx');
  const logits = tf.tensor([1, 2, 3, 1000, 0, -1000], [2, 3]);
  const result = tf.engine().runKernel('LogSoftmax', { logits }, { axis: -1 }) as tf.Tensor;
  const lse = Math.log(Math.exp(1) + Math.exp(2) + Math.exp(3));
  const expected = [1 - lse, 2 - lse, 3 - lse, 0, -1000, -2000];
  const got = await result.data();
  expected.forEach((value, i) => {
    expect(got[i]).toBeCloseTo(value, 5);
  });
});

async function computeOn(backend: string, testCase: KernelCase): Promise<Outcome> {
  await tf.setBackend(backend);
  const inputs = testCase.inputs.map(({ values, shape, dtype }) => tf.tensor([...values], shape, dtype));
  const outputs = listOf(tf.tidy(() => testCase.run(...inputs)));
  const gradients = testCase.gradient ? gradientsOf(testCase, inputs) : [];
  const outcome = {
    outputs: await Promise.all(outputs.map(plain)),
    gradients: await Promise.all(gradients.map(plain)),
  };
  tf.dispose([inputs, outputs, gradients]);
  return outcome;
}

function gradientsOf({ run }: KernelCase, inputs: tf.Tensor[]): tf.Tensor[] {
  const floats = inputs.filter(({ dtype }) => dtype === 'float32');
  const loss = (...variable: tf.Tensor[]): tf.Scalar => {
    const next = variable.values();
    return weightedSum(listOf(run(...inputs.map((x) => (x.dtype === 'float32' ? next.next().value! : x)))));
  };
  return tf.tidy(() => tf.grads(loss)(floats));
}

/** A scalar in which every output element has a weight of its own, so that mixed-up gradients show. */
function weightedSum(outputs: tf.Tensor[]): tf.Scalar {
  const sums = outputs.map((output, i) => {
    const { values } = spread(0.5, 1.5, output.shape, 31 * i);
    return tf.sum(tf.mul(tf.cast(output, 'float32'), tf.tensor([...values], output.shape)));
  });
  return tf.addN(sums) as tf.Scalar;
}

function listOf(result: tf.Tensor | tf.Tensor[]): tf.Tensor[] {
  return Array.isArray(result) ? result : [result];
}

async function plain(tensor: tf.Tensor): Promise<CaseTensor> {
  return {
    values: Array.from(await tensor.data()),
    shape: tensor.shape,
    dtype: tensor.dtype as CaseTensor['dtype'],
  };
}

function expectSame(got: Outcome, expected: Outcome, tolerance: number): void {
  for (const part of ['outputs', 'gradients'] as const) {
    expect(got[part].map(({ shape, dtype }) => [shape, dtype])).toEqual(
      expected[part].map(({ shape, dtype }) => [shape, dtype]),
    );
    got[part].forEach(({ values }, i) => {
      const wanted = expected[part][i]!.values;
      const wrong = values.flatMap((value, j) =>
        near(value, wanted[j]!, tolerance)
          ? []
          : [`${part}[${i}][${j}]: got ${value}, expected ${wanted[j]}`],
      );
      expect(wrong).toEqual([]);
      expect(values).toHaveLength(wanted.length);
    });
  }
}

function near(got: number, expected: number, tolerance: number): boolean {
  if (Number.isNaN(expected)) return Number.isNaN(got);
  if (!Number.isFinite(expected)) return got === expected;
  return Math.abs(got - expected) <= tolerance * Math.max(1, Math.abs(expected));
}
