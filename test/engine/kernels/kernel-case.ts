import type { tf } from '../../../src/engine/index.ts';

export type CaseType = 'float32' | 'int32' | 'bool';

/** A tensor of a test case, as plain data: each backend makes its own from it. */
export interface CaseTensor {
  values: readonly number[];
  shape: number[];
  dtype: CaseType;
}

/** One call that must give on the lazy backend what it gives in plain JavaScript. */
export interface KernelCase {
  /** TensorFlow.js's name of the kernel that the call must reach. */
  kernel: string;
  label: string;
  inputs: CaseTensor[];
  run: (...inputs: tf.Tensor[]) => tf.Tensor | tf.Tensor[];
  /** Also compare the gradients of the float32 inputs. */
  gradient: boolean;
  /** Relative to max(1, |expected|). */
  tolerance: number;
}

export interface CaseOptions {
  gradient?: boolean;
  tolerance?: number;
}

const DEFAULT_TOLERANCE = 2e-6;

export function kernelCase(
  kernel: string,
  label: string,
  inputs: CaseTensor[],
  run: KernelCase['run'],
  { gradient = false, tolerance = DEFAULT_TOLERANCE }: CaseOptions = {},
): KernelCase {
  return { kernel, label, inputs, run, gradient, tolerance };
}

export const float = (values: readonly number[], shape: number[] = [values.length]): CaseTensor => ({
  values,
  shape,
  dtype: 'float32',
});
export const int = (values: readonly number[], shape: number[] = [values.length]): CaseTensor => ({
  values,
  shape,
  dtype: 'int32',
});
export const bool = (values: readonly number[], shape: number[] = [values.length]): CaseTensor => ({
  values,
  shape,
  dtype: 'bool',
});

/** Numbers spread over [low, high] in no particular order: a low-discrepancy sequence. */
export function spread(low: number, high: number, shape: number[], offset = 0): CaseTensor {
  const size = shape.reduce((product, extent) => product * extent, 1);
  const fraction = (i: number): number => ((i + 1 + offset) * 0.618033988749895) % 1;
  return float(
    Array.from({ length: size }, (_, i) => Math.fround(low + (high - low) * fraction(i))),
    shape,
  );
}

/** Whole numbers in [low, high). */
export function spreadInt(low: number, high: number, shape: number[], offset = 0): CaseTensor {
  return {
    ...spread(low, high, shape, offset),
    values: spread(low, high, shape, offset).values.map(Math.floor),
    dtype: 'int32',
  };
}

/** What ordinary inputs leave out: not-a-number, infinities, both zeros, halves, tiny and huge. */
export const SPECIAL = float([
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  0,
  -0,
  0.5,
  1.5,
  2.5,
  -0.5,
  -1.5,
  -2.5,
  1e-6,
  -1e-6,
  30,
  -30,
  100,
  -100,
  3e38,
  -3e38,
]);
