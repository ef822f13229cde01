import { tf } from '../../engine/index.ts';
import { valueLoss } from '../../rl/index.ts';
import type { MicroBatch, PolicySample } from '../policy-batch.ts';
import { type Critic, predictValues } from './value-head.ts';

/** A micro-batch's part of the value loss, its coefficient left out; the parts add up over micro-batches. */
export function criticLoss(
  critic: Critic,
  micro: MicroBatch,
  {
    hidden,
    weights,
    denominator,
  }: {
    /** [B, T, hidden] of the policy. */
    hidden: tf.Tensor3D;
    /** [n] of the optimizer batch's aggregation, and its denominator. */
    weights: Float32Array;
    denominator: number;
  },
): tf.Scalar {
  const of = (key: 'values' | 'returns'): tf.Tensor1D =>
    tf.tensor1d(micro.perToken((sample) => judgedOf(sample)[key]));
  return valueLoss(
    {
      values: predictValues(critic, hidden, micro.batch.actions.rows),
      oldValues: of('values'),
      returns: of('returns'),
      weights: tf.tensor1d(weights),
      denominator,
    },
    critic.config.clipRange,
  );
}

function judgedOf({ critic }: PolicySample): NonNullable<PolicySample['critic']> {
  if (critic === undefined) throw new RangeError('criticLoss: a sample has no values and returns');
  return critic;
}
