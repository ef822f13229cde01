import * as tf from '@tensorflow/tfjs';

let replaced = false;

/**
 * Gradients that replace TensorFlow.js's own, for all backends. Sum and Mean multiplied by a tensor of ones as
 * large as their input, built in JavaScript each step; Tile looped over slices; BatchMatMul, Maximum, Minimum
 * and SquaredDifference failed where they had broadcast; Cumsum failed along any axis but the last.
 */
export function replaceGradients(): void {
  if (replaced) return;
  replaced = true;
  replace({
    kernelName: 'Sum',
    inputsToSave: ['x'],
    gradFunc: (dy, [x], attrs) => ({
      x: () => spread(one(dy), x!.shape, reducedAxes(attrs, x!)),
    }),
  });
  replace({
    kernelName: 'Mean',
    inputsToSave: ['x'],
    gradFunc: (dy, [x], attrs) => {
      const axes = reducedAxes(attrs, x!);
      const count = axes.reduce((product, axis) => product * x!.shape[axis]!, 1);
      return { x: () => spread(tf.mul(one(dy), 1 / count), x!.shape, axes) };
    },
  });
  replace({
    kernelName: 'Tile',
    inputsToSave: ['x'],
    gradFunc: (dy, [x], attrs) => ({
      x: () => sumRepeats(one(dy), x!.shape, attrs.reps as number[]),
    }),
  });
  replace({
    kernelName: 'BatchMatMul',
    inputsToSave: ['a', 'b'],
    gradFunc: (dy, [a, b], attrs) =>
      matMulGradients(one(dy), a!, b!, attrs.transposeA === true, attrs.transposeB === true),
  });
  // Of equal operands the first gets the whole gradient, as TensorFlow.js has it.
  replace(elementwise('Maximum', tf.greaterEqual, tf.less));
  replace(elementwise('Minimum', tf.lessEqual, tf.greater));
  replace(
    elementwise(
      'SquaredDifference',
      (a, b) => tf.mul(2, tf.sub(a, b)),
      (a, b) => tf.mul(2, tf.sub(b, a)),
    ),
  );
  replace({
    kernelName: 'Cumsum',
    gradFunc: (dy, _saved, attrs) => ({
      x: () => tf.cumsum(one(dy), attrs.axis as number, attrs.exclusive === true, attrs.reverse !== true),
    }),
  });
}

type Slope = (a: tf.Tensor, b: tf.Tensor) => tf.Tensor;

/** A function of two operands that broadcast, from its partial derivatives (a boolean one counts as 0 or 1). */
function elementwise(kernelName: string, slopeA: Slope, slopeB: Slope): tf.GradConfig {
  return {
    kernelName,
    inputsToSave: ['a', 'b'],
    gradFunc: (dy, [a, b]) => {
      const side = (slope: Slope, x: tf.Tensor) => (): tf.Tensor =>
        sumBroadcast(tf.mul(one(dy), tf.cast(slope(a!, b!), 'float32')), x.shape);
      return { a: side(slopeA, a!), b: side(slopeB, b!) };
    },
  };
}

function replace(gradient: tf.GradConfig): void {
  tf.unregisterGradient(gradient.kernelName);
  tf.registerGradient(gradient);
}

function one(dy: tf.Tensor | tf.Tensor[]): tf.Tensor {
  return Array.isArray(dy) ? dy[0]! : dy;
}

function reducedAxes(attrs: tf.NamedAttrMap, x: tf.Tensor): number[] {
  return tf.util.parseAxisParam(attrs.axis as number | number[], x.shape);
}

function spread(dy: tf.Tensor, shape: number[], axes: readonly number[]): tf.Tensor {
  const kept = shape.map((extent, axis) => (axes.includes(axis) ? 1 : extent));
  return tf.broadcastTo(tf.reshape(dy, kept), shape);
}

function sumRepeats(dy: tf.Tensor, shape: readonly number[], repeats: readonly number[]): tf.Tensor {
  const folded = shape.flatMap((extent, axis) => [repeats[axis]!, extent]);
  const sums = tf.sum(
    tf.reshape(dy, folded),
    shape.map((_, axis) => 2 * axis),
  );
  return tf.reshape(sums, [...shape]);
}

function matMulGradients(
  dy: tf.Tensor,
  a: tf.Tensor,
  b: tf.Tensor,
  transposeA: boolean,
  transposeB: boolean,
): ReturnType<tf.GradFunc> {
  const gradA = (): tf.Tensor =>
    transposeA ? tf.matMul(b, dy, transposeB, true) : tf.matMul(dy, b, false, !transposeB);
  const gradB = (): tf.Tensor =>
    transposeB ? tf.matMul(dy, a, true, transposeA) : tf.matMul(a, dy, !transposeA, false);
  return {
    a: () => sumBroadcast(gradA(), a.shape),
    b: () => sumBroadcast(gradB(), b.shape),
  };
}

/** Sums over the axes along which `shape` had been broadcast. */
function sumBroadcast(gradient: tf.Tensor, shape: number[]): tf.Tensor {
  const axes = tf.broadcast_util.getReductionAxes(shape, gradient.shape);
  return axes.length === 0 ? gradient : tf.reshape(tf.sum(gradient, axes), shape);
}
