import type { BatchTokens } from '../policy-losses/index.ts';

export interface EntropyClipTerms {
  /**
   * Cov(log p, A X) over the tokens, X = 1 where the token is not clipped. Above 0 the update lowers the entropy:
   * its first-order change is -learning rate times this, for a tabular softmax policy.
   */
  covariance: number;
  /** The same without clipping, X = 1 everywhere: the difference is what the clipping does to the entropy. */
  unclippedCovariance: number;
  /** The four summands of `covariance`, by the sign of A and by log p against its mean. */
  positiveLikely: number;
  positiveUnlikely: number;
  negativeLikely: number;
  negativeUnlikely: number;
}

/**
 * The decomposition behind the entropy-clip rule: likely positive and unlikely negative tokens lower the entropy,
 * unlikely positive and likely negative ones raise it, as far as the clipping lets them. BAPO (arXiv 2510.18927),
 * "Entropy-Clip Rule". The additive constant there has no covariance and drops out.
 *
 * @param tokens all loss-bearing tokens of the optimizer batch
 * @param bounds of the ratio
 * @returns null for no tokens
 */
export function entropyClipTerms(
  { logProbabilities, oldLogProbabilities, advantages }: BatchTokens,
  { low, high }: { low: number; high: number },
): EntropyClipTerms | null {
  const tokens = logProbabilities.length;
  if (tokens === 0) return null;
  let mean = 0;
  for (let t = 0; t < tokens; t++) mean += (logProbabilities[t] as number) / tokens;
  const terms: EntropyClipTerms = {
    covariance: 0,
    unclippedCovariance: 0,
    positiveLikely: 0,
    positiveUnlikely: 0,
    negativeLikely: 0,
    negativeUnlikely: 0,
  };
  for (let t = 0; t < tokens; t++) {
    const advantage = advantages[t] as number;
    const distance = (logProbabilities[t] as number) - mean;
    // To centre one factor is enough for a covariance; uncentred, A keeps its sign.
    const term = (distance * advantage) / tokens;
    terms.unclippedCovariance += term;
    const ratio = Math.exp((logProbabilities[t] as number) - (oldLogProbabilities[t] as number));
    if ((advantage > 0 && ratio > high) || (advantage < 0 && ratio < low)) continue;
    terms.covariance += term;
    if (advantage > 0) terms[distance >= 0 ? 'positiveLikely' : 'positiveUnlikely'] += term;
    else if (advantage < 0) terms[distance >= 0 ? 'negativeLikely' : 'negativeUnlikely'] += term;
  }
  return terms;
}
