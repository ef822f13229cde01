import { Rng } from '../../src/core/index.ts';

export interface Sizes {
  /** Pairs that are correlated once. */
  pairs: number;
  /** Pairs in each bootstrap resample; the first of them all. */
  resampled: number;
  resamples: number;
}

export interface Pairs {
  scores: Float64Array;
  targets: Float64Array;
}

/** Targets in [1, 5] and noisy scores with two decimals, as a model writes them: with many ties. */
export function makePairs(n: number): Pairs {
  const rng = new Rng('bench of the metrics');
  const targets = new Float64Array(n);
  const scores = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    targets[i] = rng.uniform(1, 5);
    scores[i] = Math.round(100 * Math.min(5, Math.max(1, targets[i]! + rng.normal(0, 0.5)))) / 100;
  }
  return { scores, targets };
}
