/**
 * The two mappings the field fits between predicted scores x and subjective targets y before PLCC.
 *
 * Both are linear in all parameters but two, the steepness a > 0 and the offset u of one sigmoid:
 *   y = c0 + c1 * s(a x - u)              four parameters
 *   y = c0 + c1 * s(a x - u) + c2 * x     five parameters
 * so the linear coefficients follow exactly from (a, u), and the search has two dimensions whatever the
 * units (variable projection: Golub and Pereyra, SIAM J. Numer. Anal. 10, 1973). On real data the best fit
 * often lies near the exponential limit, u far outside the data, where b1 and b2 run to 1e6 and a search in
 * the published parameters stalls.
 */
export type LogisticModel = 'logistic4' | 'logistic5';

export const PARAMETER_COUNT = { logistic4: 4, logistic5: 5 } as const satisfies Record<
  LogisticModel,
  number
>;

export interface LinearPart {
  constant: number;
  sigmoid: number;
  linear: number;
}

/**
 * The sigmoid's value, up to a constant that the linear part absorbs: s for u >= 0, s - 1 for u < 0. Either
 * way the value is small and keeps full relative precision when u is far outside the data.
 */
export function sigmoidBasis(x: number, a: number, u: number): number {
  const z = a * x - u;
  return u >= 0 ? 1 / (1 + Math.exp(-z)) : -1 / (1 + Math.exp(z));
}

/** Least-squares coefficients for given (a, u). x and y must be centred; x must vary. */
export function solveLinearPart(
  model: LogisticModel,
  x: Float64Array,
  y: Float64Array,
  a: number,
  u: number,
): LinearPart {
  const n = x.length;
  const basis = new Float64Array(n);
  let mean = 0;
  for (let i = 0; i < n; i++) {
    basis[i] = sigmoidBasis(x[i]!, a, u);
    mean += basis[i]! / n;
  }
  let xx = 0;
  let xb = 0;
  let xy = 0;
  for (let i = 0; i < n; i++) {
    xx += x[i]! * x[i]!;
    xb += x[i]! * (basis[i]! - mean);
    xy += x[i]! * y[i]!;
  }
  // With five parameters, the sigmoid explains only what the straight line leaves over.
  const basisOnX = model === 'logistic5' ? xb / xx : 0;
  const yOnX = model === 'logistic5' ? xy / xx : 0;
  let bb = 0;
  let by = 0;
  for (let i = 0; i < n; i++) {
    const b = basis[i]! - mean - basisOnX * x[i]!;
    bb += b * b;
    by += b * (y[i]! - yOnX * x[i]!);
  }
  const sigmoid = bb > 0 ? by / bb : 0;
  return { constant: -sigmoid * mean, sigmoid, linear: yOnX - sigmoid * basisOnX };
}

export const evaluateModel = (part: LinearPart, x: number, a: number, u: number): number =>
  part.constant + part.sigmoid * sigmoidBasis(x, a, u) + part.linear * x;

/** Whether the fitted curve never turns between the smallest and the largest of the scores x. */
export function isMonotone(part: LinearPart, x: Float64Array, a: number, u: number): boolean {
  let rising = 0;
  let falling = 0;
  for (let i = 0; i < x.length; i++) {
    const s = 1 / (1 + Math.exp(u - a * x[i]!));
    const slope = part.sigmoid * a * s * (1 - s) + part.linear;
    if (slope > 0) rising++;
    else if (slope < 0) falling++;
  }
  return rising === 0 || falling === 0;
}

export interface Standardised {
  mean: number;
  std: number;
}

/**
 * The parameters as the field writes them, in the units of the data.
 * logistic4 (VQEG 2000; DeQA-Score): y = (b1 - b2) / (1 + exp(-(x - b3) / b4)) + b2, b4 > 0
 * logistic5 (Sheikh et al., IEEE TIP 15, 2006): y = b1 (1/2 - 1 / (1 + exp(b2 (x - b3)))) + b4 x + b5, b2 > 0
 */
export function publishedParameters(
  model: LogisticModel,
  part: LinearPart,
  a: number,
  u: number,
  x: Standardised,
  y: Standardised,
): number[] {
  const gain = part.sigmoid * y.std;
  const centre = x.mean + (u / a) * x.std;
  const slope = (part.linear * y.std) / x.std;
  // sigmoidBasis is s - 1 for u < 0: put that constant back.
  const floor = y.mean + y.std * part.constant - (u < 0 ? gain : 0) - slope * x.mean;
  return model === 'logistic4'
    ? [floor + gain, floor, centre, x.std / a]
    : [gain, a / x.std, centre, slope, floor + gain / 2];
}
