import { changingScalars, tf } from '../engine/index.ts';
import type { DpoConfig } from './config.ts';

/** One micro-batch of pairs; vectors [P] of log-probabilities summed over each answer's tokens. */
export interface DpoInputs {
  chosen: tf.Tensor1D;
  rejected: tf.Tensor1D;
  referenceChosen: tf.Tensor1D;
  referenceRejected: tf.Tensor1D;
  /** Pairs of the whole optimizer batch; divides loss and metrics. */
  pairs: number;
}

/** Rank 0; shares of the means over the whole optimizer batch, to be added up over micro-batches. */
export interface DpoLoss {
  loss: tf.Scalar;
  metrics: {
    /** Share of pairs whose chosen answer has the higher implicit reward; a tie is half. */
    accuracy: tf.Scalar;
    /** Implicit reward beta (log p - log p_reference), chosen minus rejected. */
    margin: tf.Scalar;
    chosenReward: tf.Scalar;
    rejectedReward: tf.Scalar;
  };
}

/**
 * Direct preference optimisation, -log sigmoid(beta h) with h the log-ratio to the reference of the chosen answer
 * minus that of the rejected one (arXiv 2305.18290, equation 7); with label smoothing e,
 * -(1 - e) log sigmoid(beta h) - e log sigmoid(-beta h) (cDPO, Mitchell 2023).
 */
export function dpoLoss(inputs: DpoInputs, { beta, labelSmoothing }: DpoConfig): DpoLoss {
  if (!(inputs.pairs > 0)) throw new RangeError(`dpoLoss: pairs is ${inputs.pairs}, allowed is > 0`);
  const { perPair } = changingScalars({ perPair: 1 / inputs.pairs });
  const mean = (values: tf.Tensor): tf.Scalar => tf.sum(values).mul(perPair);
  const chosenReward = inputs.chosen.sub(inputs.referenceChosen).mul(beta);
  const rejectedReward = inputs.rejected.sub(inputs.referenceRejected).mul(beta);
  const margin = chosenReward.sub(rejectedReward);
  // -log sigmoid(x) = softplus(-x), which is finite for every x.
  let losses = tf.softplus(margin.neg());
  if (labelSmoothing > 0) {
    losses = losses.mul(1 - labelSmoothing).add(tf.softplus(margin).mul(labelSmoothing));
  }
  return {
    loss: mean(losses),
    metrics: {
      accuracy: mean(tf.sign(margin).add(1).mul(0.5)),
      margin: mean(margin),
      chosenReward: mean(chosenReward),
      rejectedReward: mean(rejectedReward),
    },
  };
}
