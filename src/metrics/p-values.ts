import { incompleteBeta } from './incomplete-beta.ts';

/** Probability that |Z| is at least |z| for a standard normal Z, with full relative precision in the tail. */
export function normalTwoSided(z: number): number {
  const reach = Math.abs(z);
  const density = Math.exp((-reach * reach) / 2) / Math.sqrt(2 * Math.PI);
  if (reach < 2) {
    // 1 - 2 density (z + z^3 / 3 + z^5 / 15 + ...), all terms of one sign.
    let term = reach;
    let sum = reach;
    for (let k = 1; term > 1e-17 * sum; k++) {
      term *= (reach * reach) / (2 * k + 1);
      sum += term;
    }
    return 1 - 2 * density * sum;
  }
  // Mills' ratio as a continued fraction (Abramowitz and Stegun 26.2.14).
  let fraction = 0;
  for (let k = 150; k >= 1; k--) fraction = k / (reach + fraction);
  return (2 * density) / (reach + fraction);
}

/** Probability that |T| is at least |t| for Student's t with the given degrees of freedom (above 0). */
export function studentTwoSided(t: number, degreesOfFreedom: number): number {
  const total = degreesOfFreedom + t * t;
  return incompleteBeta(degreesOfFreedom / total, (t * t) / total, degreesOfFreedom / 2, 0.5);
}

/** Probability that an F variable with (d1, d2) degrees of freedom is at least `f` (f >= 0). */
export function fUpperTail(f: number, d1: number, d2: number): number {
  const total = d2 + d1 * f;
  return incompleteBeta(d2 / total, (d1 * f) / total, d2 / 2, d1 / 2);
}
