import type { Rng } from '../../core/index.ts';
import { convolveTaps, type Tap } from '../convolution.ts';
import { warp } from '../distortions/sampling.ts';
import type { Raster } from '../raster.ts';
import { atStrength, type StrengthCurve } from '../strength.ts';
import { fromLight, toLight } from './linear-light.ts';

/** Length of the path in pixels. */
export const SHAKE_LENGTH: StrengthCurve = [2, 4.5, 8, 12, 17.5, 25];
/** Circumradius of the aperture's image in pixels. */
export const APERTURE_RADIUS: StrengthCurve = [0.8, 1.5, 2.3, 3.4, 4.8, 6.6];
/** Distance in pixels of red and blue from green at the corners. */
export const FRINGE: StrengthCurve = [0.5, 1.3, 2.4, 3.8, 5.6, 8];

const SHAKE_STEPS = 64;
const BLADES = 6;

/** The hand's way while the shutter is open: a walk whose direction drifts and now and then jerks. */
export function cameraShake(image: Raster, strength: number, rng: Rng): Raster {
  return fromLight(
    convolveTaps(toLight(image), pathTaps(shakePath(atStrength(SHAKE_LENGTH, strength), rng))),
  );
}

/** Points of a walk of this length. Its shape is the rng's alone, so a longer walk is the same one enlarged. */
export function shakePath(length: number, rng: Rng): [number, number][] {
  const step = length / SHAKE_STEPS;
  let angle = rng.uniform(0, 2 * Math.PI);
  let at: [number, number] = [0, 0];
  const points: [number, number][] = [at];
  for (let i = 0; i < SHAKE_STEPS; i++) {
    angle += rng.normal(0, 0.15);
    if (rng.uniform() < 0.03) angle += rng.uniform(-1.5, 1.5);
    at = [at[0] + step * Math.cos(angle), at[1] + step * Math.sin(angle)];
    points.push(at);
  }
  return points;
}

/** A path's point spread function about its centre of mass: every point spread bilinearly over four pixels. */
export function pathTaps(points: readonly (readonly [number, number])[]): Tap[] {
  const n = points.length;
  const middleX = points.reduce((sum, [x]) => sum + x, 0) / n;
  const middleY = points.reduce((sum, [, y]) => sum + y, 0) / n;
  const taps = new Map<string, Tap>();
  const add = (dx: number, dy: number, weight: number) => {
    if (weight === 0) return;
    const old = taps.get(`${dx},${dy}`)?.weight ?? 0;
    taps.set(`${dx},${dy}`, { dx, dy, weight: old + weight });
  };
  for (const [px, py] of points) {
    const left = Math.floor(px - middleX);
    const top = Math.floor(py - middleY);
    const fx = px - middleX - left;
    const fy = py - middleY - top;
    add(left, top, ((1 - fx) * (1 - fy)) / n);
    add(left + 1, top, (fx * (1 - fy)) / n);
    add(left, top + 1, ((1 - fx) * fy) / n);
    add(left + 1, top + 1, (fx * fy) / n);
  }
  return [...taps.values()];
}

/** A lens out of focus: every point becomes the image of a six-bladed aperture, in light, so highlights bloom. */
export function apertureBlur(image: Raster, strength: number, rng: Rng): Raster {
  const turn = rng.uniform(0, (2 * Math.PI) / BLADES);
  return fromLight(convolveTaps(toLight(image), apertureTaps(atStrength(APERTURE_RADIUS, strength), turn)));
}

/** Weights of a regular polygon by 4 x 4 samples a pixel; sum 1. */
export function apertureTaps(radius: number, turn: number): Tap[] {
  const sector = (2 * Math.PI) / BLADES;
  const apothem = radius * Math.cos(sector / 2);
  const isInside = (x: number, y: number) => {
    const angle = (((Math.atan2(y, x) - turn) % sector) + sector) % sector;
    return Math.hypot(x, y) * Math.cos(angle - sector / 2) <= apothem;
  };
  const reach = Math.ceil(radius);
  const taps: Tap[] = [];
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      let weight = 0;
      for (let i = 0; i < 16; i++) {
        if (isInside(dx + ((i % 4) - 1.5) / 4, dy + (Math.floor(i / 4) - 1.5) / 4)) weight++;
      }
      if (weight > 0) taps.push({ dx, dy, weight });
    }
  }
  const sum = taps.reduce((total, tap) => total + tap.weight, 0);
  return taps.map((tap) => ({ ...tap, weight: tap.weight / sum }));
}

/** Lateral chromatic aberration: red is imaged larger than green and blue smaller, about the picture's centre. */
export function chromaticAberration(image: Raster, strength: number): Raster {
  const centreX = (image.width - 1) / 2;
  const centreY = (image.height - 1) / 2;
  const share = atStrength(FRINGE, strength) / Math.max(1, Math.hypot(centreX, centreY));
  return warp(
    image,
    (at, c) => {
      const scale = 1 + (c - 1) * share;
      at[0] = centreX + (at[0] - centreX) * scale;
      at[1] = centreY + (at[1] - centreY) * scale;
    },
    true,
  );
}
