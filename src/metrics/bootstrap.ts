import type { Rng } from '../core/index.ts';
import type { ResampledStatistic } from './resampled.ts';
import { type UndefinedBecause, undefinedBecause } from './result.ts';

export interface BootstrapOptions {
  rng: Rng;
  /** Default 1000. */
  resamples?: number;
  /** Coverage in (0, 1), default 0.95. */
  level?: number;
}

export interface IntervalValue {
  status: 'ok';
  low: number;
  high: number;
  level: number;
}

/** A confidence interval, or the reason why there is none. */
export type Interval = IntervalValue | UndefinedBecause;

/** Above this share of resamples without a value, quantiles of the rest would describe a biased selection. */
const LARGEST_UNDEFINED_SHARE = 0.05;

/**
 * Percentile bootstrap intervals (Efron 1979) of several statistics on the same resamples of n pairs, drawn
 * with replacement. For the interval of a paired difference pass `resampledDifference(a, b)`.
 */
export function bootstrapIntervals<Name extends string>(
  n: number,
  statistics: Record<Name, ResampledStatistic>,
  { rng, resamples = 1000, level = 0.95 }: BootstrapOptions,
): Record<Name, Interval> {
  if (!(level > 0 && level < 1))
    throw new RangeError(`interval level: got ${level}, allowed is 0 < level < 1`);
  if (!(Number.isInteger(resamples) && resamples >= 1)) {
    throw new RangeError(`resamples: got ${resamples}, allowed is a whole number from 1`);
  }
  const names = Object.keys(statistics) as Name[];
  const values = new Map<Name, number[]>(names.map((name) => [name, []]));
  const weights = new Int32Array(n);
  for (let resample = 0; resample < resamples && n > 0; resample++) {
    weights.fill(0);
    for (let draw = 0; draw < n; draw++) weights[Math.floor((rng.uint32() / 4294967296) * n)]!++;
    for (const name of names) {
      const value = statistics[name](weights);
      if (value !== undefined) values.get(name)!.push(value);
    }
  }
  const intervals = names.map(
    (name) => [name, percentileInterval(values.get(name)!, resamples, level)] as const,
  );
  return Object.fromEntries(intervals) as Record<Name, Interval>;
}

function percentileInterval(values: number[], resamples: number, level: number): Interval {
  const missing = resamples - values.length;
  if (missing > LARGEST_UNDEFINED_SHARE * resamples) {
    return undefinedBecause(
      'resamples-undefined',
      `${missing} of ${resamples} bootstrap resamples have no value: too few pairs, or too little variance`,
    );
  }
  const infinite = values.filter((value) => !Number.isFinite(value)).length;
  if (infinite > 0) {
    return undefinedBecause(
      'not-finite',
      `${infinite} of ${resamples} bootstrap resamples are not finite: the values are too large to compute with`,
    );
  }
  const sorted = Float64Array.from(values).sort();
  const tail = (1 - level) / 2;
  return { status: 'ok', low: quantile(sorted, tail), high: quantile(sorted, 1 - tail), level };
}

/** Quantile of ascending values by linear interpolation between order statistics (Hyndman and Fan, type 7). */
export function quantile(sorted: ArrayLike<number>, probability: number): number {
  if (sorted.length === 0) throw new RangeError('quantile of an empty list');
  const position = probability * (sorted.length - 1);
  const below = Math.floor(position);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below]! + (position - below) * (sorted[above]! - sorted[below]!);
}
