/**
 * The regularised incomplete beta function I_x(a, b), for a, b > 0 and 0 <= x <= 1, by its continued fraction
 * (Abramowitz and Stegun 26.5.8; evaluated by the method of Lentz and Thompson). Relative error below 1e-10 for
 * a and b up to 1e4; it grows with them, to 1e-8 at 1e6. `complement` must be 1 - x, given apart because near
 * x = 1 the difference has lost its digits.
 */
export function incompleteBeta(x: number, complement: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (complement <= 0) return 1;
  // The fraction converges fast on this side of the mean; on the other, I_x(a, b) = 1 - I_(1-x)(b, a).
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(complement, x, b, a);
  const logFront =
    a * Math.log(x) + b * Math.log(complement) - Math.log(a) - (logGamma(a) + logGamma(b) - logGamma(a + b));
  return Math.exp(logFront) * continuedFraction(x, a, b);
}

const TINY = 1e-300;
const PRECISION = 1e-16;
/** The fraction needs about sqrt(max(a, b)) steps. */
const MOST_STEPS = 100_000;

function continuedFraction(x: number, a: number, b: number): number {
  const away = (value: number): number => (Math.abs(value) < TINY ? TINY : value);
  let c = 1;
  let d = 1 / away(1 - ((a + b) * x) / (a + 1));
  let value = d;
  for (let m = 1; m <= MOST_STEPS; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    let change = 1;
    for (const coefficient of [even, odd]) {
      d = 1 / away(1 + coefficient * d);
      c = away(1 + coefficient / c);
      value *= c * d;
      change *= c * d;
    }
    if (Math.abs(change - 1) <= PRECISION) return value;
  }
  throw new RangeError(`incomplete beta: no convergence for x = ${x}, a = ${a}, b = ${b}`);
}

/**
 * Natural logarithm of the gamma function for x > 0, by Stirling's series (Abramowitz and Stegun 6.1.41) above
 * 10 and the recurrence gamma(x + 1) = x gamma(x) below.
 */
export function logGamma(x: number): number {
  let shift = 0;
  let z = x;
  for (; z < 10; z++) shift += Math.log(z);
  const inverse = 1 / (z * z);
  const series =
    (1 / 12 -
      inverse *
        (1 / 360 -
          inverse * (1 / 1260 - inverse * (1 / 1680 - inverse * (1 / 1188 - (inverse * 691) / 360360))))) /
    z;
  return (z - 0.5) * Math.log(z) - z + Math.log(2 * Math.PI) / 2 + series - shift;
}
