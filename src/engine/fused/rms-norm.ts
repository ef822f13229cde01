import * as tf from '@tensorflow/tfjs';
import { operationWithOutputs } from '../node.ts';
import { graphValueOf, lazyTensor } from '../trace.ts';
import { runsFused } from './runs-fused.ts';

/**
 * x / sqrt(mean(x^2) + epsilon) * gain over the last axis (Zhang & Sennrich 2019). One operator on the backend
 * onnx, composed on others.
 *
 * @param x [n, width] @param gain [width]
 */
export function rmsNorm(x: tf.Tensor2D, gain: tf.Tensor1D, epsilon: number): tf.Tensor2D {
  if (!runsFused(x)) {
    const scale = tf.rsqrt(tf.add(tf.mean(tf.square(x), -1, true), epsilon));
    return tf.mul(tf.mul(x, scale), gain);
  }
  const norm = tf.customGrad((input, weight, save) => {
    const { value, scale } = recordNorm(input as tf.Tensor2D, weight as tf.Tensor1D, epsilon);
    (save as tf.GradSaveFunc)([input as tf.Tensor, weight as tf.Tensor, scale]);
    return {
      value,
      gradFunc: (dy, saved) => gradients(dy as tf.Tensor2D, saved as [tf.Tensor2D, tf.Tensor1D, tf.Tensor2D]),
    };
  });
  return norm(x, gain) as tf.Tensor2D;
}

function recordNorm(
  x: tf.Tensor2D,
  gain: tf.Tensor1D,
  epsilon: number,
): { value: tf.Tensor2D; scale: tf.Tensor2D } {
  const [rows] = x.shape;
  // ONNX Runtime's operator in the standard domain; its second output is 1 / sqrt(mean(x^2) + epsilon).
  const [value, scale] = operationWithOutputs(
    'SimplifiedLayerNormalization',
    [graphValueOf(x), graphValueOf(gain)],
    [
      { dtype: 'float32', shape: x.shape },
      { dtype: 'float32', shape: [rows, 1] },
    ],
    { attributes: { axis: -1, epsilon: { float: epsilon } } },
  );
  return { value: lazyTensor(value!) as tf.Tensor2D, scale: lazyTensor(scale!) as tf.Tensor2D };
}

/**
 * With r = 1 / sqrt(mean(x^2) + epsilon): dgain = sum over rows of r x dy, and
 * dx = r (gain dy) - x r^3 mean(x gain dy). Both sums are matrix products of x dy.
 */
function gradients(dy: tf.Tensor2D, [x, gain, scale]: [tf.Tensor2D, tf.Tensor1D, tf.Tensor2D]): tf.Tensor[] {
  const [, width] = x.shape;
  const product = tf.mul(x, dy) as tf.Tensor2D;
  const dGain = tf.reshape(tf.matMul(scale, product, true, false), [width]);
  const along = tf.matMul(product, tf.reshape(gain, [width, 1]) as tf.Tensor2D);
  const pull = tf.mul(tf.mul(along, 1 / width), tf.mul(scale, tf.square(scale)));
  const dx = tf.sub(tf.mul(tf.mul(dy, gain), scale), tf.mul(x, pull));
  return [dx, dGain];
}
