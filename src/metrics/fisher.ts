import type { Interval } from './bootstrap.ts';
import { undefinedBecause } from './result.ts';

export interface FisherOptions {
  /** Spearman's z has the larger variance (1 + r^2 / 2) / (n - 3) (Bonett and Wright, Psychometrika 65, 2000). */
  kind: 'pearson' | 'spearman';
  /** Coverage in (0, 1), default 0.95. */
  level?: number;
}

/** Confidence interval of a correlation r in [-1, 1] of n pairs by Fisher's z transform. */
export function fisherInterval(r: number, n: number, { kind, level = 0.95 }: FisherOptions): Interval {
  if (!(r >= -1 && r <= 1)) throw new RangeError(`correlation: got ${r}, allowed is -1 to 1`);
  if (n < 4) return undefinedBecause('too-few', `${n} pair(s), at least 4 needed for a Fisher interval`);
  if (Math.abs(r) === 1) {
    return undefinedBecause('perfect-correlation', `r = ${r} has no Fisher interval (z is infinite)`);
  }
  const spread = Math.sqrt((kind === 'spearman' ? 1 + (r * r) / 2 : 1) / (n - 3));
  const reach = normalQuantile((1 + level) / 2) * spread;
  const z = Math.atanh(r);
  return { status: 'ok', low: Math.tanh(z - reach), high: Math.tanh(z + reach), level };
}

/** Standard normal distribution function, from the series of erf with positive terms only. */
export function normalCdf(z: number): number {
  if (Math.abs(z) > 8) return z > 0 ? 1 : 0;
  let term = z;
  let sum = z;
  for (let k = 1; Math.abs(term) > 1e-17 * Math.abs(sum); k++) {
    term *= (z * z) / (2 * k + 1);
    sum += term;
  }
  return 0.5 + (sum * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI);
}

/** z with normalCdf(z) = probability, for probability in (0, 1), by bisection to 1e-15. */
export function normalQuantile(probability: number): number {
  if (!(probability > 0 && probability < 1)) {
    throw new RangeError(`probability: got ${probability}, allowed is 0 < probability < 1`);
  }
  let low = -8;
  let high = 8;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (normalCdf(middle) < probability) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
