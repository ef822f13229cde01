/**
 * 16-bit floats as stored in checkpoints, converted to and from 32-bit floats. All functions work on pieces: they
 * fill an array of the caller's, so that no whole tensor exists twice.
 */

const word = new Uint32Array(1);
const float = new Float32Array(word.buffer);

const MAGNITUDE = 0x7fffffff;
const INFINITE = 0x7f800000;
/** Float32 bits of the first values that round past the largest finite half: 65520 and (2 - 2^-8) 2^127. */
const FLOAT16_OVERFLOW = 0x477ff000;
const BFLOAT16_OVERFLOW = 0x7f7f8000;
/** Float32 bits of 2^-14, the smallest normal binary16. */
const FLOAT16_NORMAL = 0x38800000;
/** Difference of the exponent biases, 127 and 15, in place. */
const REBIAS = 0x38000000;

/** bfloat16 bits of a float32: the upper half, rounded to nearest, ties to even. NaN stays NaN. */
export function toBfloat16(value: number): number {
  float[0] = value;
  const bits = word[0]!;
  if ((bits & MAGNITUDE) > INFINITE) return (bits >>> 16) | 0x40; // keep it quiet, and not infinity
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
}

/**
 * Fills `target` with the bfloat16 bits of the values. Returns the place of the first finite value that bfloat16
 * cannot hold (it became infinite), or -1.
 */
export function encodeBfloat16(values: Float32Array, target: Uint16Array): number {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  let overflow = -1;
  for (let i = 0; i < bits.length; i++) {
    const b = bits[i]!;
    const size = b & MAGNITUDE;
    target[i] = size > INFINITE ? (b >>> 16) | 0x40 : (b + 0x7fff + ((b >>> 16) & 1)) >>> 16;
    if (overflow < 0 && size >= BFLOAT16_OVERFLOW && size < INFINITE) overflow = i;
  }
  return overflow;
}

/** Fills `target` with the values of bfloat16 bits. */
export function decodeBfloat16(values: Uint16Array, target: Float32Array): void {
  const bits = new Uint32Array(target.buffer, target.byteOffset, target.length);
  for (let i = 0; i < bits.length; i++) bits[i] = values[i]! << 16;
}

/** IEEE 754 binary16 bits of a float32, rounded to nearest, ties to even. NaN stays NaN. */
export function toFloat16(value: number): number {
  float[0] = value;
  const bits = word[0]!;
  const sign = (bits >>> 16) & 0x8000;
  const size = bits & MAGNITUDE;
  if (size > INFINITE) return sign | 0x7e00;
  if (size >= FLOAT16_OVERFLOW) return sign | 0x7c00;
  if (size >= FLOAT16_NORMAL) return sign | ((size - REBIAS + 0xfff + ((size >>> 13) & 1)) >>> 13);
  // Between 1/2 and 1 float32 counts in steps of 2^-24, as subnormal halves do: the addition rounds for us.
  float[0] = Math.abs(float[0]!) + 0.5;
  return sign | (word[0]! & 0x7fffff);
}

/** As `encodeBfloat16`, to binary16. */
export function encodeFloat16(values: Float32Array, target: Uint16Array): number {
  let overflow = -1;
  for (let i = 0; i < values.length; i++) {
    const half = toFloat16(values[i]!);
    target[i] = half;
    if (overflow < 0 && (half & 0x7fff) === 0x7c00 && Number.isFinite(values[i])) overflow = i;
  }
  return overflow;
}

let float16Values: Float32Array | undefined;

/** Fills `target` with the values of binary16 bits, subnormals, infinities and NaN included. */
export function decodeFloat16(values: Uint16Array, target: Float32Array): void {
  float16Values ??= Float32Array.from({ length: 2 ** 16 }, (_, bits) => fromFloat16(bits));
  for (let i = 0; i < target.length; i++) target[i] = float16Values[values[i]!]!;
}

function fromFloat16(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >>> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
