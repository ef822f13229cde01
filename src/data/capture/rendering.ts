import type { Rng } from '../../core/index.ts';
import { convolveSeparable, gaussianKernel } from '../convolution.ts';
import { luma, type Raster } from '../raster.ts';
import { atStrength, type StrengthCurve } from '../strength.ts';
import { fromLight, luminance, toLight } from './linear-light.ts';

/** Error of the exposure in stops. */
export const STOPS: StrengthCurve = [0.25, 0.6, 1.05, 1.6, 2.25, 3];
/** Stops between red and green, and between green and blue. */
export const BALANCE: StrengthCurve = [0.08, 0.2, 0.38, 0.6, 0.88, 1.2];
/** How far large shapes are flattened and small ones raised. */
export const TONE_MAPPING: StrengthCurve = [0.15, 0.4, 0.75, 1.2, 1.8, 2.6];
/** Standard deviation of the base layer relative to the shorter edge. */
const BASE_SIGMA = 0.06;

/** Too much light (highlights clip) or too little, as the rng says, by stops of linear light. */
export function misexposure(image: Raster, strength: number, rng: Rng): Raster {
  const factor = 2 ** ((rng.uniform() < 0.5 ? -1 : 1) * atStrength(STOPS, strength));
  const light = toLight(image);
  return fromLight({ ...light, data: light.data.map((value) => value * factor) });
}

/** A lamp of another color temperature left uncorrected: warm or cold, with a little green or magenta. */
export function whiteBalance(image: Raster, strength: number, rng: Rng): Raster {
  const stops = (rng.uniform() < 0.5 ? -1 : 1) * atStrength(BALANCE, strength);
  const tint = rng.uniform(-0.2, 0.2) * stops;
  const gains = [2 ** stops, 2 ** tint, 2 ** -stops];
  // A white surface keeps its luminance.
  const total = luminance(gains[0]!, gains[1]!, gains[2]!);
  const light = toLight(image);
  return fromLight({ ...light, data: light.data.map((value, i) => (value * gains[i % 3]!) / total) });
}

/**
 * Tone mapping that splits luma by a plain Gaussian, flattens the base and raises the rest. Because the base
 * blurs over strong edges, they get wide halos.
 */
export function hdrHalo(image: Raster, strength: number): Raster {
  const amount = atStrength(TONE_MAPPING, strength);
  const { width, height, data } = image;
  const lumas = new Float32Array(data.length);
  let mean = 0;
  for (let i = 0; i < data.length; i += 3) {
    const y = luma(data[i]!, data[i + 1]!, data[i + 2]!);
    lumas.fill(y, i, i + 3);
    mean += y / (data.length / 3);
  }
  const sigma = Math.max(1, BASE_SIGMA * Math.min(width, height));
  const base = convolveSeparable({ width, height, data: lumas }, gaussianKernel(sigma));
  return {
    ...image,
    data: data.map((value, i) => {
      const y = lumas[i]!;
      const mapped = mean + (base.data[i]! - mean) / (1 + amount) + (y - base.data[i]!) * (1 + amount);
      return y < 1 ? value + mapped - y : Math.max(0, (value * mapped) / y);
    }),
  };
}
