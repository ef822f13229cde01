import type { Interval } from './bootstrap.ts';
import { normalQuantile } from './fisher.ts';
import { type Metric, metricValue, undefinedBecause } from './result.ts';

/** A count out of a total, and their ratio with a Wilson interval where the total is not 0. */
export interface Proportion {
  count: number;
  of: number;
  rate: Metric;
  interval: Interval;
}

/** `count` of `of` things; `what` names one of them, for the reason given when there are none. */
export function proportion(count: number, of: number, what: string, level = 0.95): Proportion {
  const interval = wilsonInterval(count, of, level);
  if (of > 0) return { count, of, rate: metricValue(count / of), interval };
  const none = undefinedBecause('nothing-to-count', `no ${what}`);
  return { count, of, rate: none, interval: none };
}

/**
 * Wilson's score interval of a binomial proportion (E. B. Wilson, JASA 22, 1927; Brown, Cai and DasGupta,
 * Statistical Science 16, 2001, equation 4), without continuity correction:
 *   (p + z^2 / 2n +- z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)
 * It stays in [0, 1] and has a width above 0 at p = 0 and p = 1 too. Counts must be independent.
 */
export function wilsonInterval(count: number, of: number, level = 0.95): Interval {
  if (!(level > 0 && level < 1))
    throw new RangeError(`interval level: got ${level}, allowed is 0 < level < 1`);
  if (!(Number.isInteger(count) && Number.isInteger(of) && count >= 0 && count <= of)) {
    throw new RangeError(
      `proportion: got ${count} of ${of}, allowed are whole numbers with 0 <= count <= of`,
    );
  }
  if (of === 0) return undefinedBecause('nothing-to-count', '0 of 0');
  const z2 = normalQuantile((1 + level) / 2) ** 2;
  const p = count / of;
  const middle = p + z2 / (2 * of);
  const reach = Math.sqrt(z2 * ((p * (1 - p)) / of + z2 / (4 * of * of)));
  const scale = 1 + z2 / of;
  return {
    status: 'ok',
    // At the ends the bound is exact; subtracting would leave a rounding error on either side of it.
    low: count === 0 ? 0 : (middle - reach) / scale,
    high: count === of ? 1 : (middle + reach) / scale,
    level,
  };
}
