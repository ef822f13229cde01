import { SCORE_RANGE } from '../predictions.ts';

/** Whole numbers that hold the scale of scores and all the values. */
export function valueRange(values: readonly number[]): { low: number; high: number } {
  return {
    low: Math.floor(values.reduce((least, value) => Math.min(least, value), SCORE_RANGE.lowest)),
    high: Math.ceil(values.reduce((most, value) => Math.max(most, value), SCORE_RANGE.highest)),
  };
}

/** Mean and standard deviation (n - 1; 0 for one value) of values that are not empty. */
export function meanAndStd(values: readonly number[]): { mean: number; std: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, std: values.length < 2 ? 0 : Math.sqrt(squares / (values.length - 1)) };
}
