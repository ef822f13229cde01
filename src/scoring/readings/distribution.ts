import { distributionOfWeights, type ScoreDistribution } from '../score-distribution.ts';

/** What a model holds likely, with its mean and standard deviation. */
export interface Distribution {
  mean: number;
  std: number;
  distribution: ScoreDistribution;
}

/** Softmax of log-probabilities or logits. */
export function softmax(logProbabilities: readonly number[]): number[] {
  const highest = Math.max(...logProbabilities);
  const weights = logProbabilities.map((value) => Math.exp(value - highest));
  const total = weights.reduce((sum, value) => sum + value, 0);
  return weights.map((value) => value / total);
}

/** Of values with weights, which need not add up to 1. `width`: of the stretch that each value stands for. */
export function distributionOf(
  values: readonly number[],
  weights: readonly number[],
  width: number,
): Distribution {
  let total = 0;
  let mean = 0;
  let square = 0;
  values.forEach((value, i) => {
    total += weights[i]!;
    mean += weights[i]! * value;
    square += weights[i]! * value * value;
  });
  mean /= total;
  return {
    distribution: distributionOfWeights(values, weights, width),
    mean,
    std: Math.sqrt(Math.max(0, square / total - mean * mean)),
  };
}
