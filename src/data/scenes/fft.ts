/** In-place radix-2 Cooley-Tukey transforms of power-of-two size, unnormalised, exponent +i (inverse). */

interface Plan {
  reversed: Uint32Array;
  cosine: Float64Array;
  sine: Float64Array;
}

const plans = new Map<number, Plan>();

function planFor(size: number): Plan {
  const known = plans.get(size);
  if (known !== undefined) return known;
  if (size < 2 || (size & (size - 1)) !== 0) {
    throw new RangeError(`FFT size must be a power of two, got ${size}`);
  }
  const bits = Math.log2(size);
  const reversed = new Uint32Array(size);
  for (let i = 0; i < size; i++) {
    let r = 0;
    for (let b = 0; b < bits; b++) r |= ((i >> b) & 1) << (bits - 1 - b);
    reversed[i] = r;
  }
  const angle = (i: number) => (2 * Math.PI * i) / size;
  const plan = {
    reversed,
    cosine: Float64Array.from({ length: size / 2 }, (_, i) => Math.cos(angle(i))),
    sine: Float64Array.from({ length: size / 2 }, (_, i) => Math.sin(angle(i))),
  };
  plans.set(size, plan);
  return plan;
}

function transformLine(real: Float64Array, imaginary: Float64Array, size: number, plan: Plan): void {
  const { reversed, cosine, sine } = plan;
  for (let i = 0; i < size; i++) {
    const j = reversed[i]!;
    if (j > i) {
      const re = real[i]!;
      const im = imaginary[i]!;
      real[i] = real[j]!;
      imaginary[i] = imaginary[j]!;
      real[j] = re;
      imaginary[j] = im;
    }
  }
  for (let span = 1; span < size; span *= 2) {
    const stride = size / (2 * span);
    for (let k = 0; k < span; k++) {
      const wr = cosine[k * stride]!;
      const wi = sine[k * stride]!;
      for (let top = k; top < size; top += 2 * span) {
        const bottom = top + span;
        const re = real[bottom]! * wr - imaginary[bottom]! * wi;
        const im = real[bottom]! * wi + imaginary[bottom]! * wr;
        real[bottom] = real[top]! - re;
        imaginary[bottom] = imaginary[top]! - im;
        real[top] = real[top]! + re;
        imaginary[top] = imaginary[top]! + im;
      }
    }
  }
}

/** The same transform down all columns at once: whole rows are combined, so memory is read in order. */
function transformColumns(real: Float64Array, imaginary: Float64Array, size: number, plan: Plan): void {
  const { reversed, cosine, sine } = plan;
  for (let i = 0; i < size; i++) {
    const j = reversed[i]!;
    if (j <= i) continue;
    for (const part of [real, imaginary]) {
      const row = part.slice(i * size, (i + 1) * size);
      part.copyWithin(i * size, j * size, (j + 1) * size);
      part.set(row, j * size);
    }
  }
  for (let span = 1; span < size; span *= 2) {
    const stride = size / (2 * span);
    for (let k = 0; k < span; k++) {
      const wr = cosine[k * stride]!;
      const wi = sine[k * stride]!;
      for (let first = k; first < size; first += 2 * span) {
        const end = (first + 1) * size;
        for (let top = first * size, bottom = top + span * size; top < end; top++, bottom++) {
          const re = real[bottom]! * wr - imaginary[bottom]! * wi;
          const im = real[bottom]! * wi + imaginary[bottom]! * wr;
          real[bottom] = real[top]! - re;
          imaginary[bottom] = imaginary[top]! - im;
          real[top] = real[top]! + re;
          imaginary[top] = imaginary[top]! + im;
        }
      }
    }
  }
}

/** Unnormalised inverse transform of a square array: x[n] = sum over k of X[k] exp(+2 pi i k.n / size). */
export function inverseFft2d(real: Float64Array, imaginary: Float64Array, size: number): void {
  const plan = planFor(size);
  for (let row = 0; row < size; row++) {
    const at = row * size;
    transformLine(real.subarray(at, at + size), imaginary.subarray(at, at + size), size, plan);
  }
  transformColumns(real, imaginary, size, plan);
}
