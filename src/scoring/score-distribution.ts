/** How likely a model holds each score. */
export interface ScoreDistribution {
  /** In ascending order. */
  scores: readonly number[];
  /** Of each score; they add up to 1. */
  probabilities: readonly number[];
  /**
   * Each score stands for a stretch of this width with itself in the middle, evenly: .1 where two digits are read, 1
   * for level words, 0 for samples.
   */
  width: number;
}

/** The central part of a distribution. */
export interface ScoreInterval {
  low: number;
  high: number;
  /** Probability inside, at least. */
  level: number;
}

export const INTERVAL_LEVEL = 0.95;

/** A distribution of values with weights, which need not be sorted, distinct or add up to 1. */
export function distributionOfWeights(
  values: readonly number[],
  weights: readonly number[],
  width = 0,
): ScoreDistribution {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const merged = new Map<number, number>();
  values.forEach((value, i) => {
    merged.set(value, (merged.get(value) ?? 0) + weights[i]! / total);
  });
  const sorted = [...merged].sort(([a], [b]) => a - b);
  return { scores: sorted.map(([value]) => value), probabilities: sorted.map(([, weight]) => weight), width };
}

/** Rounding of sums of probabilities must not move a quantile by a whole value. */
const ROUNDING = 1e-9;

/**
 * The value that a share of `probability` lies at or below: the smallest score for which that holds, and inside the
 * stretch that it stands for, in proportion.
 */
export function quantileOf({ scores, probabilities, width }: ScoreDistribution, probability: number): number {
  let below = 0;
  for (let i = 0; i < scores.length; i++) {
    const here = probabilities[i]!;
    if (below + here >= probability - ROUNDING && here > 0) {
      const share = Math.min(1, Math.max(0, (probability - below) / here));
      return scores[i]! + width * (share - 0.5);
    }
    below += here;
  }
  return scores.at(-1)! + width / 2;
}

/** From the (1 - level) / 2 quantile to that of (1 + level) / 2. Of a few samples it is from the least to the greatest. */
export function centralInterval(distribution: ScoreDistribution, level = INTERVAL_LEVEL): ScoreInterval {
  return {
    low: quantileOf(distribution, (1 - level) / 2),
    high: quantileOf(distribution, (1 + level) / 2),
    level,
  };
}

/** The central interval of a score, which ends where the scale does. */
export function scoreInterval(distribution: ScoreDistribution): ScoreInterval {
  const { low, high, level } = centralInterval(distribution);
  return { low: Math.max(1, low), high: Math.min(5, high), level };
}

/**
 * The distribution of a mean of several scores, such as those of a picture's views, that go up and down together:
 * the mean of the quantile functions (Vincent averaging; Ratcliff 1979). Views of one picture share its faults and
 * the model's doubts, so this is the cautious reading: independent ones would have a narrower mean.
 */
export function averageDistribution(distributions: readonly ScoreDistribution[]): ScoreDistribution {
  if (distributions.length === 1) return distributions[0]!;
  const at = distributions.map(() => 0);
  const left = distributions.map(({ probabilities }) => probabilities[0]!);
  const values: number[] = [];
  const weights: number[] = [];
  while (distributions.every(({ scores }, i) => at[i]! < scores.length)) {
    const mass = Math.min(...left);
    const sum = distributions.reduce((total, { scores }, i) => total + scores[at[i]!]!, 0);
    if (mass > 0) {
      values.push(sum / distributions.length);
      weights.push(mass);
    }
    distributions.forEach(({ probabilities }, i) => {
      left[i]! -= mass;
      if (left[i]! > ROUNDING) return;
      at[i]! += 1;
      left[i] = probabilities[at[i]!] ?? 0;
    });
  }
  return distributionOfWeights(values, weights, Math.max(...distributions.map(({ width }) => width)));
}

/** The distribution of a - b for independent a and b. The width is such that the variance is the sum of both. */
export function differenceDistribution(a: ScoreDistribution, b: ScoreDistribution): ScoreDistribution {
  const values: number[] = [];
  const weights: number[] = [];
  a.scores.forEach((x, i) => {
    b.scores.forEach((y, j) => {
      // To a grid of 1e-9, so that equal differences of binary fractions are one value.
      values.push(Math.round((x - y) * 1e9) / 1e9);
      weights.push(a.probabilities[i]! * b.probabilities[j]!);
    });
  });
  return distributionOfWeights(values, weights, Math.hypot(a.width, b.width));
}

/** P(a > b) + P(a = b) / 2 for independent a and b: the probability of superiority, 1/2 for equal distributions. */
export function superiority(a: ScoreDistribution, b: ScoreDistribution): number {
  const { scores, probabilities } = differenceDistribution(a, b);
  return scores.reduce((sum, value, i) => {
    if (value < 0) return sum;
    return sum + probabilities[i]! * (value > 0 ? 1 : 0.5);
  }, 0);
}
