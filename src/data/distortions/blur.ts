import type { Rng } from '../../core/index.ts';
import { convolveSeparable, convolveTaps, gaussianKernel, type Tap } from '../convolution.ts';
import type { Raster } from '../raster.ts';
import { atStrength, type StrengthCurve } from '../strength.ts';

/** Standard deviation in pixels. */
export const GAUSSIAN_SIGMA: StrengthCurve = [0.3, 0.7, 1.1, 1.6, 2.3, 3.3];
/** Length of the path in pixels. */
export const MOTION_LENGTH: StrengthCurve = [1.5, 3, 5, 7.5, 11, 15];
/** Radius of the disc in pixels. */
export const DEFOCUS_RADIUS: StrengthCurve = [0.6, 1.2, 1.9, 2.7, 3.8, 5.4];

export const gaussianBlur = (image: Raster, strength: number): Raster =>
  convolveSeparable(image, gaussianKernel(atStrength(GAUSSIAN_SIGMA, strength)));

/** Straight uniform camera motion in a random direction. */
export function motionBlur(image: Raster, strength: number, rng: Rng): Raster {
  return convolveTaps(image, motionTaps(atStrength(MOTION_LENGTH, strength), rng.uniform(0, Math.PI)));
}

/** The path's point spread function: points every quarter pixel, each spread bilinearly over four pixels. */
export function motionTaps(length: number, angle: number): Tap[] {
  const weights = new Map<string, Tap>();
  const samples = Math.max(3, 2 * Math.ceil(2 * length) + 1);
  const add = (dx: number, dy: number, weight: number) => {
    if (weight === 0) return;
    const key = `${dx},${dy}`;
    const old = weights.get(key)?.weight ?? 0;
    weights.set(key, { dx, dy, weight: old + weight });
  };
  for (let i = 0; i < samples; i++) {
    const t = (i / (samples - 1) - 0.5) * length;
    const x = t * Math.cos(angle);
    const y = t * Math.sin(angle);
    const left = Math.floor(x);
    const top = Math.floor(y);
    const fx = x - left;
    const fy = y - top;
    add(left, top, ((1 - fx) * (1 - fy)) / samples);
    add(left + 1, top, (fx * (1 - fy)) / samples);
    add(left, top + 1, ((1 - fx) * fy) / samples);
    add(left + 1, top + 1, (fx * fy) / samples);
  }
  return [...weights.values()];
}

/** A lens out of focus: a uniform disc with a soft rim of one pixel. */
export const defocusBlur = (image: Raster, strength: number): Raster =>
  convolveTaps(image, discTaps(atStrength(DEFOCUS_RADIUS, strength)));

export function discTaps(radius: number): Tap[] {
  const reach = Math.ceil(radius + 0.5);
  const taps: Tap[] = [];
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      const weight = Math.max(0, Math.min(1, radius + 0.5 - Math.hypot(dx, dy)));
      if (weight > 0) taps.push({ dx, dy, weight });
    }
  }
  const sum = taps.reduce((total, tap) => total + tap.weight, 0);
  return taps.map((tap) => ({ ...tap, weight: tap.weight / sum }));
}
