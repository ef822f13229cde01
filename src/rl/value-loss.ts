import { changingScalars, tf } from '../engine/index.ts';

/** Flat vectors [T] over the action tokens of one micro-batch. */
export interface ValueLossInputs {
  /** Of the value head; carries the gradient. */
  values: tf.Tensor1D;
  /** At the start of the optimisation of this batch. */
  oldValues: tf.Tensor1D;
  /** Targets, advantage + old value (`generalisedAdvantages`). */
  returns: tf.Tensor1D;
  /** `tokenWeights` and `globalDenominator`, as for the policy loss. */
  weights: tf.Tensor1D;
  denominator: number;
}

/**
 * 0.5 max((V - R)^2, (clip(V, Vold - range, Vold + range) - R)^2), summed with the weights over the global
 * denominator. The clipped value loss of the PPO implementation (Engstrom et al., arXiv 2005.12729).
 *
 * @param range > 0, or null for the plain squared error
 */
export function valueLoss(inputs: ValueLossInputs, range: number | null): tf.Scalar {
  const { values, oldValues, returns, weights, denominator } = inputs;
  if (range !== null && !(range > 0)) throw new RangeError(`valueLoss: range is ${range}, allowed is > 0`);
  if (!(denominator > 0)) throw new RangeError(`valueLoss: denominator is ${denominator}, allowed is > 0`);
  const { half } = changingScalars({ half: 0.5 / denominator });
  let errors = tf.square(values.sub(returns));
  if (range !== null) {
    const moved = tf.clipByValue(values.sub(oldValues), -range, range).add(oldValues);
    errors = tf.maximum(errors, tf.square(moved.sub(returns)));
  }
  return tf.sum(errors.mul(weights)).mul(half);
}
