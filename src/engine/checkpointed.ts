import * as tf from '@tensorflow/tfjs';
import { computeNow } from './compute-now.ts';

/**
 * Gradient checkpointing (Chen et al. 2016, arXiv 1604.06174): f(x), of which only x is kept for the backward pass,
 * where f is computed a second time. On the backend onnx f becomes a graph of its own, forward and backward, so
 * layers of one shape share one compiled graph; what is pending is computed before.
 *
 * @param f gradients reach x and `variables` alone
 * @param uses what else f takes, kept with x: other tensors may be gone when f is computed again
 * @param variables every one must reach the result
 */
export function checkpointed<T extends tf.Tensor, R extends tf.Tensor>(
  f: (x: T, uses: readonly tf.Tensor[]) => R,
  x: T,
  uses: readonly tf.Tensor[],
  variables: readonly tf.Variable[],
): R {
  computeNow();
  const layer = tf.customGrad((input, ...rest) => {
    const save = rest[rest.length - 1] as tf.GradSaveFunc;
    const value = f(input as T, uses);
    save([input as T, ...uses]);
    const gradFunc = (dy: tf.Tensor, saved: tf.Tensor[]): tf.Tensor[] => {
      const [kept, ...others] = saved as [T, ...tf.Tensor[]];
      computeNow();
      const again = tf.grads((input) => f(input as T, others));
      const gradients = keepingTape(() => again([kept, ...variables], dy));
      computeNow();
      return gradients;
    };
    return { value, gradFunc };
  });
  const value = layer(x, ...variables) as R;
  computeNow();
  return value;
}

/**
 * TensorFlow.js has one tape, which the end of a backward pass throws away. A backward pass inside another one
 * must leave the outer tape where it was.
 */
function keepingTape<T>(work: () => T): T {
  const { state } = tf.engine();
  const outer = state.activeTape;
  try {
    return work();
  } finally {
    state.activeTape = outer;
  }
}
