import { type Metric, undefinedBecause } from '../metrics/index.ts';

/** Below this, a correlation says nothing: that of two points is always 1 or -1. */
export const LEAST_ROWS = 3;

/** A correlation, unless it is of so few images that it could not be another. */
export const telling = (correlation: Metric, n: number): Metric =>
  correlation.status !== 'ok' || n >= LEAST_ROWS
    ? correlation
    : undefinedBecause(
        'too-few',
        `${n} row(s), at least ${LEAST_ROWS} needed: two points always correlate by 1 or -1`,
      );
