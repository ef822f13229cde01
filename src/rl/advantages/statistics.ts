export const average = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Unbiased (n - 1), two passes. */
export function standardDeviation(values: readonly number[]): number {
  const mean = average(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
}

/** Asked exactly: a rounded mean leaves a trace of variance that is not there. */
export const allEqual = (values: readonly number[]): boolean => values.every((value) => value === values[0]);
