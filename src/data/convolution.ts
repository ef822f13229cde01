import { createRaster, type Raster } from './raster.ts';

/** Index of a sample beyond the border, mirrored about the outer edge of the first or last pixel (d c b a | a b c d). */
export function reflect(index: number, size: number): number {
  const period = 2 * size;
  const i = ((index % period) + period) % period;
  return i < size ? i : period - 1 - i;
}

/** Odd-length Gaussian weights, sum 1, cut at 4 sigma. */
export function gaussianKernel(sigma: number): Float64Array {
  const radius = Math.max(1, Math.ceil(4 * sigma));
  const weights = Float64Array.from({ length: 2 * radius + 1 }, (_, i) =>
    Math.exp(-((i - radius) ** 2) / (2 * sigma * sigma)),
  );
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((w) => w / sum);
}

/** Convolves rows and then columns with the same symmetric kernel. */
export function convolveSeparable(input: Raster, kernel: Float64Array): Raster {
  const { width, height } = input;
  const rows = createRaster(width, height);
  alongLines(input.data, rows.data, kernel, { count: width, step: 3 }, { count: height, step: width * 3 });
  const out = createRaster(width, height);
  alongLines(rows.data, out.data, kernel, { count: height, step: width * 3 }, { count: width, step: 3 });
  return out;
}

interface Axis {
  count: number;
  step: number;
}

function alongLines(
  from: Float32Array,
  to: Float32Array,
  kernel: Float64Array,
  along: Axis,
  across: Axis,
): void {
  const radius = kernel.length >> 1;
  const padded = new Float64Array(along.count + 2 * radius);
  for (let line = 0; line < across.count; line++) {
    for (let c = 0; c < 3; c++) {
      const start = line * across.step + c;
      for (let i = 0; i < padded.length; i++) {
        padded[i] = from[start + reflect(i - radius, along.count) * along.step]!;
      }
      for (let i = 0; i < along.count; i++) {
        let sum = 0;
        for (let k = 0; k < kernel.length; k++) sum += kernel[k]! * padded[i + k]!;
        to[start + i * along.step] = sum;
      }
    }
  }
}

/** One nonzero weight of a point spread function, at an offset from its centre. */
export interface Tap {
  dx: number;
  dy: number;
  weight: number;
}

/** Convolves with a small point spread function given by its taps (weights should sum to 1). */
export function convolveTaps(input: Raster, taps: readonly Tap[]): Raster {
  const { width, height, data } = input;
  const out = createRaster(width, height);
  const columns = new Int32Array(width);
  for (const { dx, dy, weight } of taps) {
    for (let x = 0; x < width; x++) columns[x] = reflect(x - dx, width) * 3;
    for (let y = 0; y < height; y++) {
      const source = reflect(y - dy, height) * width * 3;
      let at = y * width * 3;
      for (let x = 0; x < width; x++) {
        const from = source + columns[x]!;
        out.data[at] = out.data[at]! + weight * data[from]!;
        out.data[at + 1] = out.data[at + 1]! + weight * data[from + 1]!;
        out.data[at + 2] = out.data[at + 2]! + weight * data[from + 2]!;
        at += 3;
      }
    }
  }
  return out;
}
