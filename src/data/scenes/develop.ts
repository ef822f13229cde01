import type { Rng } from '../../core/index.ts';
import { luma, type Raster } from '../raster.ts';

/** Halves a raster with the separable kernel [1 3 3 1] / 8, a mild low-pass like a lens and a sensor's. */
export function halve(raster: Raster): Raster {
  const { width, height, data } = raster;
  const w = width >> 1;
  const h = height >> 1;
  const middle = new Float32Array(w * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < w; x++) {
      const a = (y * width + Math.max(0, 2 * x - 1)) * 3;
      const b = (y * width + 2 * x) * 3;
      const d = (y * width + Math.min(width - 1, 2 * x + 2)) * 3;
      const to = (y * w + x) * 3;
      for (let c = 0; c < 3; c++) {
        middle[to + c] = (data[a + c]! + 3 * (data[b + c]! + data[b + 3 + c]!) + data[d + c]!) / 8;
      }
    }
  }
  const out = new Float32Array(w * h * 3);
  const row = w * 3;
  for (let y = 0; y < h; y++) {
    const a = Math.max(0, 2 * y - 1) * row;
    const b = 2 * y * row;
    const d = Math.min(height - 1, 2 * y + 2) * row;
    for (let i = 0; i < row; i++) {
      out[y * row + i] = (middle[a + i]! + 3 * (middle[b + i]! + middle[b + row + i]!) + middle[d + i]!) / 8;
    }
  }
  return { data: out, width: w, height: h };
}

/**
 * Develops a painted scene as a camera would: full tonal range, mid-grey mean, nearly neutral color balance and
 * ordinary colorfulness. Without it a dark or tinted scene could not be told from an underexposed or
 * color-shifted one, and nothing could learn to name those distortions. Works in place.
 */
export function develop(raster: Raster, rng: Rng): void {
  const { data } = raster;
  const pixels = data.length / 3;
  const lumas = new Float32Array(pixels);
  const histogram = new Uint32Array(256);
  let redSum = 0;
  let blueSum = 0;
  for (let i = 0, at = 0; i < pixels; i++, at += 3) {
    const y = luma(data[at]!, data[at + 1]!, data[at + 2]!);
    lumas[i] = y;
    const bin = Math.max(0, Math.min(255, Math.round(y)));
    histogram[bin] = histogram[bin]! + 1;
    redSum += data[at]! - y;
    blueSum += data[at + 2]! - y;
  }
  // A scene's own cast is kept to two fifths: automatic white balance leaves some.
  const red = (0.6 * redSum) / pixels;
  const blue = (0.6 * blueSum) / pixels;
  const green = -(0.299 * red + 0.114 * blue) / 0.587;
  let chroma = 0;
  for (let i = 0, at = 0; i < pixels; i++, at += 3) {
    const y = lumas[i]!;
    const r = data[at]! - y - red;
    const g = data[at + 1]! - y - green;
    const b = data[at + 2]! - y - blue;
    chroma += Math.sqrt(r * r + g * g + b * b);
  }
  const gain = Math.min(2.5, rng.uniform(26, 36) / Math.max(1, chroma / pixels));
  const tone = toneCurve(histogram, pixels, rng);
  for (let i = 0, at = 0; i < pixels; i++, at += 3) {
    const y = lumas[i]!;
    const target = tone(y);
    data[at] = target + gain * (data[at]! - y - red);
    data[at + 1] = target + gain * (data[at + 1]! - y - green);
    data[at + 2] = target + gain * (data[at + 2]! - y - blue);
  }
}

/** Levels from the 0.4th to the 99.6th percentile, then the gamma that brings the mean to mid-grey. */
function toneCurve(histogram: Uint32Array, pixels: number, rng: Rng): (y: number) => number {
  const low = percentile(histogram, pixels * 0.004);
  const high = Math.max(low + 8, percentile(histogram, pixels * 0.996));
  const black = rng.uniform(5, 18);
  const white = rng.uniform(234, 249);
  const wanted = (rng.uniform(110, 128) - black) / (white - black);
  const position = (y: number) => Math.max(0, Math.min(1, (y - low) / (high - low)));
  let gammaLow = 0.4;
  let gammaHigh = 2.5;
  for (let step = 0; step < 20; step++) {
    const gamma = (gammaLow + gammaHigh) / 2;
    let mean = 0;
    for (let bin = 0; bin < 256; bin++) mean += (histogram[bin]! / pixels) * position(bin) ** gamma;
    if (mean > wanted) gammaLow = gamma;
    else gammaHigh = gamma;
  }
  const gamma = (gammaLow + gammaHigh) / 2;
  // A table of quarter steps: a power per pixel would cost more than painting the scene.
  const table = Float32Array.from(
    { length: 1021 },
    (_, i) => black + (white - black) * position(i / 4) ** gamma,
  );
  return (y) => table[Math.max(0, Math.min(1020, Math.round(y * 4)))]!;
}

function percentile(histogram: Uint32Array, count: number): number {
  let seen = 0;
  for (let bin = 0; bin < 256; bin++) {
    seen += histogram[bin]!;
    if (seen >= count) return bin;
  }
  return 255;
}

/**
 * How busy the picture is, 0 to 1: 1 - exp(-g / 12) for the mean absolute luma difference g between
 * neighbouring pixels (both directions). Smooth skies give about 0.2, gravel 0.9.
 */
export function busynessOf(image: { data: ArrayLike<number>; width: number; height: number }): number {
  const { data, width, height } = image;
  const lumas = new Float32Array(width * height);
  for (let i = 0; i < lumas.length; i++) lumas[i] = luma(data[3 * i]!, data[3 * i + 1]!, data[3 * i + 2]!);
  let sum = 0;
  for (let y = 0; y + 1 < height; y++) {
    for (let i = y * width; i + 1 < (y + 1) * width; i++) {
      const here = lumas[i]!;
      sum += Math.abs(lumas[i + 1]! - here) + Math.abs(lumas[i + width]! - here);
    }
  }
  const count = 2 * (width - 1) * (height - 1);
  return count === 0 ? 0 : 1 - Math.exp(-sum / count / 12);
}
