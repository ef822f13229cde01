import { tf } from '../../engine/index.ts';
import { clippedSides, pessimistic } from './clip.ts';
import {
  detach,
  LOG_RATIO_LIMIT,
  type Surrogate,
  type SurrogateInputs,
  sequenceMean,
  tokenRatio,
} from './surrogate-inputs.ts';

export interface GspoBounds {
  epsilonLow: number;
  epsilonHigh: number;
}

/**
 * min(s A, clip(s, 1 - epsilonLow, 1 + epsilonHigh) A) with one ratio per sequence, the geometric mean of its
 * token ratios, s_i = exp(mean_t log r_it). GSPO (arXiv 2507.18071), equations 5 and 7. With the aggregation
 * `sequence-mean` this is the paper's objective.
 */
export function gspoSurrogate(inputs: SurrogateInputs, bounds: GspoBounds): Surrogate {
  return clipAround(inputs, bounds, sequenceRatio(inputs));
}

/**
 * GSPO-token: the ratio of the sequence in value, the gradient of each token's own probability,
 * s_it = sg[s_i] p_it / sg[p_it]. Equal to GSPO where the advantage is the same at all tokens of a sequence.
 * GSPO (arXiv 2507.18071), equations 13 and 14.
 */
export function gspoTokenSurrogate(inputs: SurrogateInputs, bounds: GspoBounds): Surrogate {
  const { current } = inputs;
  const ratio = detach(sequenceRatio(inputs)).mul(tf.exp(current.sub(detach(current))));
  return clipAround(inputs, bounds, ratio);
}

function clipAround(
  inputs: SurrogateInputs,
  { epsilonLow, epsilonHigh }: GspoBounds,
  ratio: tf.Tensor,
): Surrogate {
  const [low, high] = [1 - epsilonLow, 1 + epsilonHigh];
  return {
    objective: pessimistic(ratio, tf.clipByValue(ratio, low, high), inputs.advantages, null),
    ratio: tokenRatio(inputs),
    ...clippedSides(ratio, inputs.advantages, low, high),
  };
}

/** [T] geometric mean of the ratios of each token's sequence. */
function sequenceRatio(inputs: SurrogateInputs): tf.Tensor {
  const mean = sequenceMean(inputs.current.sub(inputs.old), inputs);
  return tf.exp(tf.clipByValue(mean, -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT));
}
