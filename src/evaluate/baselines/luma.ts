import type { RgbImage } from '../../core/index.ts';

/** Grey values in [0, 255], row by row. */
export interface Plane {
  data: Float64Array;
  width: number;
  height: number;
}

/** Luma of ITU-R BT.601. */
export function lumaOf({ data, width, height }: RgbImage): Plane {
  const plane = new Float64Array(width * height);
  for (let i = 0; i < plane.length; i++) {
    plane[i] = 0.299 * data[3 * i]! + 0.587 * data[3 * i + 1]! + 0.114 * data[3 * i + 2]!;
  }
  return { data: plane, width, height };
}

/** Half the size by means of 2 x 2 blocks; an odd last row or column is left out. */
export function halved({ data, width, height }: Plane): Plane {
  const [w, h] = [width >> 1, height >> 1];
  const half = new Float64Array(w * h);
  for (let y = 0; y < h; y++) {
    for (let x = 0; x < w; x++) {
      const at = 2 * y * width + 2 * x;
      half[y * w + x] = (data[at]! + data[at + 1]! + data[at + width]! + data[at + width + 1]!) / 4;
    }
  }
  return { data: half, width: w, height: h };
}

/** A separable filter of odd length; beyond the border the last value repeats. */
export function filtered({ data, width, height }: Plane, kernel: readonly number[]): Plane {
  const reach = (kernel.length - 1) / 2;
  const rows = new Float64Array(data.length);
  const result = new Float64Array(data.length);
  kernel.forEach((weight, k) => {
    const columns = Int32Array.from({ length: width }, (_, x) => clamped(x + k - reach, width));
    for (let y = 0; y < height; y++) {
      const start = y * width;
      for (let x = 0; x < width; x++) rows[start + x]! += weight * data[start + columns[x]!]!;
    }
  });
  kernel.forEach((weight, k) => {
    for (let y = 0; y < height; y++) {
      const start = y * width;
      const from = clamped(y + k - reach, height) * width;
      for (let x = 0; x < width; x++) result[start + x]! += weight * rows[from + x]!;
    }
  });
  return { data: result, width, height };
}

const clamped = (at: number, length: number): number => Math.min(length - 1, Math.max(0, at));

export function meanAndVariance(values: ArrayLike<number>): { mean: number; variance: number } {
  let mean = 0;
  for (let i = 0; i < values.length; i++) mean += values[i]!;
  mean /= values.length;
  let variance = 0;
  for (let i = 0; i < values.length; i++) variance += (values[i]! - mean) ** 2;
  return { mean, variance: variance / values.length };
}
