/** 16-bit floats as stored in checkpoints, converted to and from 32-bit floats. */

const word = new Uint32Array(1);
const float = new Float32Array(word.buffer);

/** bfloat16 bits of a float32: the upper half, rounded to nearest, ties to even. NaN stays NaN. */
export function toBfloat16(value: number): number {
  float[0] = value;
  const bits = word[0]!;
  if ((bits & 0x7fffffff) > 0x7f800000) return (bits >>> 16) | 0x40; // keep it quiet, and not infinity
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
}

export function encodeBfloat16(values: Float32Array): Uint16Array {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const result = new Uint16Array(values.length);
  for (let i = 0; i < bits.length; i++) {
    const b = bits[i]!;
    result[i] = (b & 0x7fffffff) > 0x7f800000 ? (b >>> 16) | 0x40 : (b + 0x7fff + ((b >>> 16) & 1)) >>> 16;
  }
  return result;
}

export function decodeBfloat16(values: Uint16Array): Float32Array {
  const bits = new Uint32Array(values.length);
  for (let i = 0; i < bits.length; i++) bits[i] = values[i]! << 16;
  return new Float32Array(bits.buffer);
}

/** IEEE 754 binary16 to float32, subnormals, infinities and NaN included. */
export function decodeFloat16(values: Uint16Array): Float32Array {
  const result = new Float32Array(values.length);
  for (let i = 0; i < result.length; i++) {
    const h = values[i]!;
    const sign = h & 0x8000 ? -1 : 1;
    const exponent = (h >>> 10) & 31;
    const fraction = h & 1023;
    if (exponent === 31) result[i] = fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
    else if (exponent === 0) result[i] = sign * fraction * 2 ** -24;
    else result[i] = sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  }
  return result;
}
