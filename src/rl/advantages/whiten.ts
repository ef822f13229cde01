/** Token values of one response with the mask of its action tokens; both [T]. */
export interface MaskedTokens {
  values: ArrayLike<number>;
  actions: ArrayLike<boolean | number>;
}

/**
 * Centres and scales by all action tokens of the batch, (x - mean) / sqrt(variance + 1e-8), unbiased variance,
 * as PPO implementations do (Engstrom et al., Implementation Matters, arXiv 2005.12729). One token, or tokens
 * that are all equal, become exactly 0.
 *
 * @returns per response [T], 0 at tokens that are no actions
 */
export function whitenTokens(batch: readonly MaskedTokens[]): Float64Array[] {
  let [count, sum] = [0, 0];
  let [minimum, maximum] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  visit(batch, (value) => {
    count++;
    sum += value;
    minimum = Math.min(minimum, value);
    maximum = Math.max(maximum, value);
  });
  const result = batch.map(({ values }) => new Float64Array(values.length));
  if (count < 2 || minimum === maximum) return result;
  const mean = sum / count;
  let squares = 0;
  visit(batch, (value) => {
    squares += (value - mean) ** 2;
  });
  const scale = 1 / Math.sqrt(squares / (count - 1) + 1e-8);
  visit(batch, (value, response, t) => {
    (result[response] as Float64Array)[t] = (value - mean) * scale;
  });
  return result;
}

function visit(
  batch: readonly MaskedTokens[],
  each: (value: number, response: number, t: number) => void,
): void {
  batch.forEach(({ values, actions }, response) => {
    if (values.length !== actions.length) {
      throw new RangeError(`whitenTokens: ${values.length} values for ${actions.length} tokens`);
    }
    for (let t = 0; t < values.length; t++) if (actions[t]) each(values[t] as number, response, t);
  });
}
