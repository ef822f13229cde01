import { tf } from '../../engine/index.ts';

/** What a surrogate is computed from: flat vectors [T] over the action tokens of one micro-batch. */
export interface SurrogateInputs {
  /** log p of the sampled tokens under the current weights; carries the gradient. */
  current: tf.Tensor;
  /** The same under the weights at the start of the optimisation of this batch. */
  old: tf.Tensor;
  advantages: tf.Tensor;
  /** 1 for loss-bearing tokens, 0 for padding. */
  mask: tf.Tensor;
  /** Which tokens belong together; read by the losses with a ratio per sequence. */
  sequences: TokenSequences | null;
  /** 1 for the tokens that were selected over the whole optimizer batch; read by the covariance losses. */
  selected: tf.Tensor | null;
}

export interface Surrogate {
  /** [T] what is maximised, per token. */
  objective: tf.Tensor;
  /** [T] current over old probability of each token, whatever ratio the objective uses. */
  ratio: tf.Tensor;
  /** [T] boolean: the token's gain is cut at the lower or upper bound. null: the loss has no such bound. */
  clippedLow: tf.Tensor | null;
  clippedHigh: tf.Tensor | null;
}

/** The sequences that the tokens of a flat vector belong to. */
export interface TokenSequences {
  /** [T] sequence of each token. */
  ids: tf.Tensor1D;
  /** [S] tokens of each sequence, at least 1. */
  lengths: tf.Tensor1D;
}

// exp of more overflows float32 in a product; clipping has long cut the gradient there.
export const LOG_RATIO_LIMIT = 20;

/** [T] current over old probability, finite for any log-probabilities. */
export const tokenRatio = ({ current, old }: Pick<SurrogateInputs, 'current' | 'old'>): tf.Tensor =>
  tf.exp(tf.clipByValue(current.sub(old), -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT));

/** The value without its gradient ("stop gradient", sg). */
export const detach: (x: tf.Tensor) => tf.Tensor = tf.customGrad((x) => ({
  value: (x as tf.Tensor).clone(),
  gradFunc: (dy) => tf.zerosLike(dy as tf.Tensor),
}));

/**
 * @param tokensPerSequence loss-bearing tokens of each sequence, in the order the flat vectors hold them
 * @param paddedLength length of the flat vectors; the padding counts to the last sequence, with weight 0
 */
export function tokenSequences(tokensPerSequence: readonly number[], paddedLength: number): TokenSequences {
  const tokens = tokensPerSequence.reduce((sum, count) => sum + count, 0);
  if (tokens > paddedLength) {
    throw new RangeError(`tokenSequences: ${tokens} tokens do not fit into ${paddedLength}`);
  }
  const ids = new Int32Array(paddedLength).fill(Math.max(0, tokensPerSequence.length - 1));
  let offset = 0;
  tokensPerSequence.forEach((count, sequence) => {
    ids.fill(sequence, offset, offset + count);
    offset += count;
  });
  return {
    ids: tf.tensor1d(ids, 'int32'),
    lengths: tf.tensor1d(tokensPerSequence.map((count) => Math.max(1, count))),
  };
}

/** [T] at every token the mean of its sequence's values, over the loss-bearing tokens. */
export function sequenceMean(values: tf.Tensor, { mask, sequences }: SurrogateInputs): tf.Tensor {
  if (sequences === null) {
    throw new RangeError('policy loss: a ratio per sequence needs tokensPerSequence');
  }
  const { ids, lengths } = sequences;
  const sums = tf.unsortedSegmentSum(values.mul(mask), ids, lengths.size);
  return tf.gather(sums.div(lengths), ids);
}
