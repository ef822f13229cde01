/**
 * How well the old values told the returns, over all action tokens: explained variance 1 - Var(R - V) / Var(R), which
 * is 1 for a perfect head, 0 for one that tells the mean, and below 0 for one that is worse than that. Left out where
 * all returns are equal.
 *
 * @param judged [A] of each sample
 */
export function valueMetrics(
  judged: readonly { values: ArrayLike<number>; returns: ArrayLike<number> }[],
): Record<string, number> {
  const values = judged.flatMap((sample) => Array.from(sample.values));
  const returns = judged.flatMap((sample) => Array.from(sample.returns));
  if (values.length === 0) return {};
  const spread = variance(returns);
  const left = variance(returns.map((value, t) => value - values[t]!));
  return {
    'values/mean': mean(values),
    ...(spread > 0 ? { explained_variance: 1 - left / spread } : {}),
  };
}

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, value) => sum + value, 0) / numbers.length;

function variance(numbers: readonly number[]): number {
  const middle = mean(numbers);
  return mean(numbers.map((value) => (value - middle) ** 2));
}
