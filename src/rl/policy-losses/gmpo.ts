import { tf } from '../../engine/index.ts';
import {
  LOG_RATIO_LIMIT,
  type Surrogate,
  type SurrogateInputs,
  sequenceMean,
  tokenRatio,
} from './surrogate-inputs.ts';

/**
 * A times the geometric mean of the sequence's token ratios, each cut in the log on the side where the gain would
 * grow: above logRangeHigh for a positive advantage, below -logRangeLow for a negative one. GMPO
 * (arXiv 2507.20673). Made for one advantage per sequence, with the aggregation `sequence-mean`.
 */
export function gmpoSurrogate(
  inputs: SurrogateInputs,
  { logRangeLow, logRangeHigh }: { logRangeLow: number; logRangeHigh: number },
): Surrogate {
  const { advantages } = inputs;
  const logRatio = tf.clipByValue(inputs.current.sub(inputs.old), -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT);
  const positive = tf.greater(advantages, 0);
  const cut = tf.where(positive, tf.minimum(logRatio, logRangeHigh), tf.maximum(logRatio, -logRangeLow));
  return {
    objective: tf.exp(sequenceMean(cut, inputs)).mul(advantages),
    ratio: tokenRatio(inputs),
    clippedLow: tf.logicalAnd(tf.less(logRatio, -logRangeLow), tf.less(advantages, 0)),
    clippedHigh: tf.logicalAnd(tf.greater(logRatio, logRangeHigh), positive),
  };
}
