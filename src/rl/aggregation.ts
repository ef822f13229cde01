import { ConfigError } from '../core/index.ts';

/**
 * How token losses become one number.
 * - `token-mean`: every token of the global batch counts the same (DAPO, arXiv 2503.14476, equation 12).
 * - `sequence-mean`: every sequence counts the same, its tokens share it (GRPO, arXiv 2402.03300, equation 3).
 * - `constant`: sums are divided by a fixed length, whatever was sampled (Dr. GRPO, arXiv 2503.20783, section 3.2).
 */
export type Aggregation = 'token-mean' | 'sequence-mean' | 'constant';

/** Sizes of the whole optimizer batch, over all its micro-batches. */
export interface BatchTotals {
  /** Sequences with at least one loss-bearing token. */
  sequences: number;
  /** Loss-bearing (action) tokens. */
  tokens: number;
}

export function batchTotals(tokensPerSequence: readonly number[]): BatchTotals {
  return {
    sequences: tokensPerSequence.filter((tokens) => tokens > 0).length,
    tokens: tokensPerSequence.reduce((sum, tokens) => sum + tokens, 0),
  };
}

/**
 * The one denominator of the loss, taken from the whole optimizer batch. Dividing every micro-batch by it
 * makes their sum the same for any split.
 *
 * @param constantLength tokens per sequence that `constant` divides by, > 0: the longest allowed response
 */
export function globalDenominator(
  aggregation: Aggregation,
  totals: BatchTotals,
  constantLength?: number,
): number {
  if (totals.tokens <= 0) {
    throw new RangeError('globalDenominator: the batch has no loss-bearing token; skip it instead');
  }
  if (aggregation === 'token-mean') return totals.tokens;
  if (aggregation === 'sequence-mean') return totals.sequences;
  if (constantLength === undefined || !(constantLength > 0)) {
    throw new ConfigError(`aggregation "constant" got length ${constantLength}, allowed is > 0`, {
      hint: 'set it to the longest allowed response, in tokens',
    });
  }
  return totals.sequences * constantLength;
}

/**
 * Weights of the tokens of one micro-batch, so that loss = sum(weight * token loss) / global denominator.
 *
 * @param tokensPerSequence loss-bearing tokens of each sequence of the micro-batch, in the order the flat
 *   token vectors hold them
 * @param paddedLength length of the flat vectors, >= the sum; the rest gets weight 0
 */
export function tokenWeights(
  aggregation: Aggregation,
  tokensPerSequence: readonly number[],
  paddedLength?: number,
): Float32Array {
  const tokens = batchTotals(tokensPerSequence).tokens;
  const length = paddedLength ?? tokens;
  if (length < tokens) throw new RangeError(`tokenWeights: ${tokens} tokens do not fit into ${length}`);
  const weights = new Float32Array(length);
  let offset = 0;
  for (const count of tokensPerSequence) {
    weights.fill(aggregation === 'sequence-mean' ? 1 / count : 1, offset, offset + count);
    offset += count;
  }
  return weights;
}
