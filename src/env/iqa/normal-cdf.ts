/**
 * Phi(z), the distribution function of the standard normal, absolute error below 1e-14. Phi(z) = 1/2 + phi(z)
 * (z + z^3/3 + z^5/15 + ...) for |z| < 6 (Abramowitz & Stegun 26.2.10); beyond that 0 or 1 to 1e-9.
 */
export function normalCdf(z: number): number {
  if (Number.isNaN(z)) return Number.NaN;
  if (z >= 6) return 1;
  if (z <= -6) return 0;
  let term = z;
  let sum = z;
  for (let k = 3; Math.abs(term) > 1e-17 * Math.abs(sum); k += 2) {
    term *= (z * z) / k;
    sum += term;
  }
  return 0.5 + (sum * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI);
}
