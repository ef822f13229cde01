import type { ResampledStatistic } from './resampled.ts';
import { type Metric, metricValue, type Numbers, pairProblem, undefinedBecause } from './result.ts';

/** How much a disagreement by d grades counts: d^2, d, or 1 for any d above 0. */
export type KappaWeights = 'quadratic' | 'linear' | 'none';

export interface KappaOptions {
  weights: KappaWeights;
  /** The grades of the scale are the whole numbers from `lowest` to `highest`. */
  lowest: number;
  highest: number;
}

/**
 * Chance-corrected agreement of two judges about the same things, 1 for full agreement, 0 for chance, below 0
 * for less: kappa = 1 - sum(w o) / sum(w e), with o the observed and e the expected share of each pair of
 * grades and w the weight of their disagreement. Weights "none": J. Cohen, Educational and Psychological
 * Measurement 20, 1960; weighted: Cohen, Psychological Bulletin 70, 1968; linear: Cicchetti and Allison 1971;
 * quadratic: Fleiss and Cohen 1973. A grade outside the scale throws.
 */
export function weightedKappa(first: Numbers, second: Numbers, options: KappaOptions): Metric {
  const problem = pairProblem(first, second, 1);
  if (problem !== undefined) return problem;
  const value = resampledWeightedKappa(first, second, options)(new Int32Array(first.length).fill(1));
  if (value !== undefined) return metricValue(value);
  return undefinedBecause(
    'constant-scores',
    `both judges give the grade ${first[0]} to all ${first.length}: chance alone would agree as well`,
  );
}

/** `weightedKappa` of a resample, for `bootstrapIntervals`. */
export function resampledWeightedKappa(
  first: Numbers,
  second: Numbers,
  { weights, lowest, highest }: KappaOptions,
): ResampledStatistic {
  const grades = highest - lowest + 1;
  if (!(Number.isInteger(lowest) && Number.isInteger(highest) && grades >= 2)) {
    throw new RangeError(`scale: got ${lowest} to ${highest}, allowed are whole numbers, the second larger`);
  }
  for (const grade of [...Array.from(first), ...Array.from(second)]) {
    if (!(Number.isInteger(grade) && grade >= lowest && grade <= highest)) {
      throw new RangeError(`grade: got ${grade}, allowed are the whole numbers from ${lowest} to ${highest}`);
    }
  }
  return (occurrences) => {
    const countFirst = new Float64Array(grades);
    const countSecond = new Float64Array(grades);
    let observed = 0;
    let total = 0;
    for (let i = 0; i < occurrences.length; i++) {
      const times = occurrences[i]!;
      const a = first[i]! - lowest;
      const b = second[i]! - lowest;
      countFirst[a]! += times;
      countSecond[b]! += times;
      observed += times * WEIGHT[weights](Math.abs(a - b));
      total += times;
    }
    let expected = 0;
    for (let a = 0; a < grades; a++) {
      for (let b = 0; b < grades; b++) {
        expected += (countFirst[a]! * countSecond[b]! * WEIGHT[weights](Math.abs(a - b))) / total;
      }
    }
    return expected > 0 ? 1 - observed / expected : undefined;
  };
}

const WEIGHT: Record<KappaWeights, (difference: number) => number> = {
  quadratic: (difference) => difference * difference,
  linear: (difference) => difference,
  none: (difference) => (difference === 0 ? 0 : 1),
};
