import type { Rng } from '../../core/index.ts';
import type { Raster } from '../raster.ts';
import { atStrength, type StrengthCurve } from '../strength.ts';

export const BRIGHT_GAMMA: StrengthCurve = [0.92, 0.78, 0.64, 0.51, 0.39, 0.28];
export const DARK_GAMMA: StrengthCurve = [1.1, 1.35, 1.75, 2.3, 3.1, 4.2];
/** Grey levels added or taken. */
export const MEAN_SHIFT: StrengthCurve = [8, 18, 30, 44, 60, 80];
/** Steepness of the S-curve; its inverse flattens as much as it steepens. */
export const CURVE_STEEPNESS: StrengthCurve = [0.4, 0.9, 1.4, 2, 2.7, 3.6];

const mapValues = (image: Raster, change: (value: number) => number): Raster => ({
  ...image,
  data: image.data.map(change),
});

const gamma = (image: Raster, exponent: number): Raster =>
  mapValues(image, (value) => 255 * (Math.max(0, value) / 255) ** exponent);

/** Midtones lifted, black and white kept: nothing clips. */
export const brightening = (image: Raster, strength: number): Raster =>
  gamma(image, atStrength(BRIGHT_GAMMA, strength));

/** Midtones lowered, black and white kept. */
export const darkening = (image: Raster, strength: number): Raster =>
  gamma(image, atStrength(DARK_GAMMA, strength));

/** All values moved up or down, as the rng says, and clipped. */
export function meanShift(image: Raster, strength: number, rng: Rng): Raster {
  const shift = (rng.uniform() < 0.5 ? -1 : 1) * atStrength(MEAN_SHIFT, strength);
  return mapValues(image, (value) => value + shift);
}

/** Harsh or flat midtones, as the rng says: an S-curve about mid-grey, or its inverse. */
export function contrastChange(image: Raster, strength: number, rng: Rng): Raster {
  const steepness = atStrength(CURVE_STEEPNESS, strength);
  const end = Math.tanh(steepness);
  const harsh = rng.uniform() < 0.5;
  return mapValues(image, (value) => {
    const x = Math.max(-1, Math.min(1, (2 * value) / 255 - 1));
    const y = harsh ? Math.tanh(steepness * x) / end : Math.atanh(end * x) / steepness;
    return 127.5 * (y + 1);
  });
}
