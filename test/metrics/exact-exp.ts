/**
 * exp(x) for |x| below 1, correctly rounded: the Taylor series in whole numbers of 2^-160. Unlike Math.exp it is the
 * same in every language, so that a recorded difference to it means the same everywhere.
 */
export function exactExp(x: number): number {
  // A double below 1 in size and above 2^-100 is a whole number of 2^-160.
  const argument = BigInt(x * 2 ** 160);
  let term = 1n << 160n;
  let sum = term;
  for (let k = 1n; term !== 0n; k++) {
    // Division of BigInt cuts towards 0, for either sign.
    term = (term * argument) / (k << 160n);
    sum += term;
  }
  return Number(sum) / 2 ** 160;
}

/** The next double above (`steps` 1) or below (-1) a positive one. */
export function neighbour(value: number, steps: 1 | -1): number {
  const bits = new BigInt64Array(Float64Array.of(value).buffer);
  bits[0]! += BigInt(steps);
  return new Float64Array(bits.buffer)[0]!;
}

/** The double that a half-precision number, given by its bits, stands for; normal numbers only. */
export function fromHalf(bits: number): number {
  const size = (1 + (bits & 0x3ff) / 1024) * 2 ** (((bits >> 10) & 0x1f) - 15);
  return bits >> 15 === 1 ? -size : size;
}
