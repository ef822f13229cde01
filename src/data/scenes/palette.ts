import type { Rng } from '../../core/index.ts';
import type { Rgb } from './paint.ts';

/** A color by luma (0 to 255) and the two chroma axes of BT.601 YCbCr (about -60 to 60), not clipped. */
export const fromYcc = (y: number, cb: number, cr: number): Rgb => [
  y + 1.402 * cr,
  y - 0.344 * cb - 0.714 * cr,
  y + 1.772 * cb,
];

/** Chroma directions (Cb, Cr) that common materials have in daylight photographs; small, as in nature. */
const MATERIALS = {
  leaf: [-22, -12],
  grass: [-26, -8],
  autumn: [-30, 16],
  earth: [-16, 12],
  stone: [-3, 2],
  slate: [5, -3],
  sky: [20, -13],
  cloud: [2, -1],
  brick: [-12, 22],
  plaster: [-8, 5],
  wood: [-20, 15],
  paper: [-6, 3],
  red: [-10, 40],
  blue: [32, -16],
  teal: [8, -22],
  yellow: [-42, 12],
} as const satisfies Record<string, readonly [number, number]>;

export type Material = keyof typeof MATERIALS;

/** A sample of a material at the given luma, with the small variation real surfaces have. */
export function shade(rng: Rng, material: Material, y: number, spread = 1): Rgb {
  const [cb, cr] = MATERIALS[material];
  const strength = rng.uniform(0.6, 1.2);
  return fromYcc(
    y + rng.normal(0, 5 * spread),
    cb * strength + rng.normal(0, 2.5 * spread),
    cr * strength + rng.normal(0, 2.5 * spread),
  );
}

export const mix = (a: Rgb, b: Rgb, t: number): Rgb => [
  a[0] + t * (b[0] - a[0]),
  a[1] + t * (b[1] - a[1]),
  a[2] + t * (b[2] - a[2]),
];
