/** How far the sampler's log-probabilities are from the trainer's, for the same tokens and weights. */
export interface SamplerDivergence {
  tokens: number;
  /** Of the log-probabilities, in nats. */
  meanAbsoluteDifference: number;
  maximumAbsoluteDifference: number;
  /** Estimates of KL(sampler || trainer) over the sampler's tokens (Schulman 2020). k1 may be negative. */
  k1: number;
  k3: number;
  /** Pearson correlation of the probabilities; null if either is constant. */
  correlation: number | null;
}

/**
 * Statistics of the mismatch between the engine that sampled and the one that trains, to be logged every
 * step. A growing value means that the gradient is off-policy without the loss knowing.
 *
 * @param sampler log-probability of each sampled token where it was sampled
 * @param trainer the same under the training forward pass, at the same temperature
 * @returns null for no tokens
 */
export function samplerDivergence(
  sampler: ArrayLike<number>,
  trainer: ArrayLike<number>,
): SamplerDivergence | null {
  if (sampler.length !== trainer.length) {
    throw new RangeError(
      `samplerDivergence: ${sampler.length} sampler but ${trainer.length} trainer log-probabilities`,
    );
  }
  const tokens = sampler.length;
  if (tokens === 0) return null;
  let [absolute, maximum, k1, k3] = [0, 0, 0, 0];
  for (let i = 0; i < tokens; i++) {
    const difference = (trainer[i] as number) - (sampler[i] as number);
    absolute += Math.abs(difference);
    maximum = Math.max(maximum, Math.abs(difference));
    k1 -= difference;
    k3 += Math.expm1(difference) - difference;
  }
  return {
    tokens,
    meanAbsoluteDifference: absolute / tokens,
    maximumAbsoluteDifference: maximum,
    k1: k1 / tokens,
    k3: k3 / tokens,
    correlation: correlate(
      Array.from(sampler, (x) => Math.exp(x)),
      Array.from(trainer, (x) => Math.exp(x)),
    ),
  };
}

/** Pearson; null if either list is constant (asked exactly, for a rounded mean hides it). */
function correlate(a: readonly number[], b: readonly number[]): number | null {
  if (a.every((value) => value === a[0]) || b.every((value) => value === b[0])) return null;
  const meanA = a.reduce((sum, value) => sum + value, 0) / a.length;
  const meanB = b.reduce((sum, value) => sum + value, 0) / b.length;
  let [covariance, varianceA, varianceB] = [0, 0, 0];
  a.forEach((value, i) => {
    covariance += (value - meanA) * ((b[i] as number) - meanB);
    varianceA += (value - meanA) ** 2;
    varianceB += ((b[i] as number) - meanB) ** 2;
  });
  return covariance / Math.sqrt(varianceA * varianceB);
}
