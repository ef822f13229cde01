import { changingScalars, tf } from '../../engine/index.ts';
import { type Surrogate, type SurrogateInputs, tokenRatio } from './surrogate-inputs.ts';

export interface ClipBounds {
  /** Bounds of the ratio itself, low < 1 < high. */
  low: number;
  high: number;
  /** For negative advantages the loss is at most -dualClip * advantage; > 1, or null for no bound. */
  dualClip: number | null;
}

/**
 * min(r A, clip(r, low, high) A). PPO (arXiv 1707.06347), equation 7; asymmetric range ("clip-higher"): DAPO
 * (arXiv 2503.14476), equation 10; dual clip: Ye et al. (arXiv 1912.09729).
 */
export function clipSurrogate(inputs: SurrogateInputs, { low, high, dualClip }: ClipBounds): Surrogate {
  const ratio = tokenRatio(inputs);
  return {
    objective: pessimistic(ratio, tf.clipByValue(ratio, low, high), inputs.advantages, dualClip),
    ratio,
    ...clippedSides(ratio, inputs.advantages, low, high),
  };
}

/**
 * The same, with bounds that are found anew for every optimizer batch (BAPO). They enter as data, so that a new
 * bound does not make a new graph.
 */
export function movingClipSurrogate(inputs: SurrogateInputs, { low, high, dualClip }: ClipBounds): Surrogate {
  const ratio = tokenRatio(inputs);
  const bounds = changingScalars({ low, high });
  const clipped = tf.minimum(tf.maximum(ratio, bounds.low), bounds.high);
  return {
    objective: pessimistic(ratio, clipped, inputs.advantages, dualClip),
    ratio,
    ...clippedSides(ratio, inputs.advantages, bounds.low, bounds.high),
  };
}

/** The smaller of the gain and the clipped gain, bounded below by the dual clip. */
export function pessimistic(
  ratio: tf.Tensor,
  clipped: tf.Tensor,
  advantages: tf.Tensor,
  dualClip: number | null,
): tf.Tensor {
  const objective = tf.minimum(ratio.mul(advantages), clipped.mul(advantages));
  if (dualClip === null) return objective;
  // The bound touches negative advantages alone: for the others it is 0, and the objective is never below.
  return tf.maximum(objective, tf.minimum(advantages, 0).mul(dualClip));
}

/** Where the gain is cut: below with a negative advantage, above with a positive one. */
export function clippedSides(
  ratio: tf.Tensor,
  advantages: tf.Tensor,
  low: number | tf.Scalar,
  high: number | tf.Scalar,
): { clippedLow: tf.Tensor; clippedHigh: tf.Tensor } {
  return {
    clippedLow: tf.logicalAnd(tf.less(ratio, low), tf.less(advantages, 0)),
    clippedHigh: tf.logicalAnd(tf.greater(ratio, high), tf.greater(advantages, 0)),
  };
}
