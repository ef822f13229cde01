import type { Rng } from '../../core/index.ts';
import { BulkRandom } from '../bulk-random.ts';
import { inverseFft2d } from './fft.ts';

/** A square periodic field, zero mean, unit variance; `size` is a power of two, so wrapping is a bit mask. */
export interface Field {
  data: Float32Array;
  size: number;
}

const PHASES = 4096;
const COSINE = Float64Array.from({ length: PHASES }, (_, i) => Math.cos((2 * Math.PI * i) / PHASES));
const SINE = Float64Array.from({ length: PHASES }, (_, i) => Math.sin((2 * Math.PI * i) / PHASES));

/**
 * Two independent real fields whose amplitude spectrum is exactly f^-slope (natural images: slope near 1, Field
 * 1987) with uniformly random phases, from one complex transform: field one is its real part, field two its
 * imaginary part.
 */
export function spectralFields(rng: Rng, size: number, slopes: readonly [number, number]): [Field, Field] {
  const random = new BulkRandom(rng);
  const real = new Float64Array(size * size);
  const imaginary = new Float64Array(size * size);
  const half = size / 2;
  const amplitudesOne = amplitudes(half, slopes[0]);
  const amplitudesTwo = amplitudes(half, slopes[1]);
  for (let row = 0; row < size; row++) {
    const v = row <= half ? row : row - size;
    const mirrorRow = (size - row) & (size - 1);
    for (let u = 0; u <= half; u++) {
      // Columns 0 and size/2 are their own mirror columns: fill one half of the rows only.
      if ((u === 0 || u === half) && row > half) continue;
      if (u === 0 && row === 0) continue;
      const amplitudeOne = amplitudesOne[Math.abs(v) * (half + 1) + u]!;
      const amplitudeTwo = amplitudesTwo[Math.abs(v) * (half + 1) + u]!;
      const one = random.uint32() & (PHASES - 1);
      const two = random.uint32() & (PHASES - 1);
      const i = row * size + u;
      const j = mirrorRow * size + ((size - u) & (size - 1));
      if (i === j) {
        // A self-conjugate frequency must be real: only the sign of the phase is free.
        real[i] = one < PHASES / 2 ? amplitudeOne : -amplitudeOne;
        imaginary[i] = two < PHASES / 2 ? amplitudeTwo : -amplitudeTwo;
        continue;
      }
      const oneReal = amplitudeOne * COSINE[one]!;
      const oneImaginary = amplitudeOne * SINE[one]!;
      const twoReal = amplitudeTwo * COSINE[two]!;
      const twoImaginary = amplitudeTwo * SINE[two]!;
      // Spectrum of one + i two, each Hermitian.
      real[i] = oneReal - twoImaginary;
      imaginary[i] = oneImaginary + twoReal;
      real[j] = oneReal + twoImaginary;
      imaginary[j] = twoReal - oneImaginary;
    }
  }
  inverseFft2d(real, imaginary, size);
  return [normalized(real, size), normalized(imaginary, size)];
}

/** f^-slope over one quadrant of frequencies 0..half; entry 0 is never used. */
function amplitudes(half: number, slope: number): Float64Array {
  const table = new Float64Array((half + 1) ** 2);
  for (let v = 0; v <= half; v++) {
    for (let u = 0; u <= v; u++) {
      const amplitude = (u * u + v * v) ** (-slope / 2);
      table[v * (half + 1) + u] = amplitude;
      table[u * (half + 1) + v] = amplitude;
    }
  }
  return table;
}

function normalized(values: Float64Array, size: number): Field {
  let squares = 0;
  for (let i = 0; i < values.length; i++) squares += values[i]! * values[i]!;
  const scale = 1 / Math.sqrt(squares / values.length);
  const data = new Float32Array(values.length);
  for (let i = 0; i < data.length; i++) data[i] = values[i]! * scale;
  return { data, size };
}
