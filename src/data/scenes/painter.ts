import type { Rng } from '../../core/index.ts';
import type { Raster } from '../raster.ts';
import type { Field } from './spectral-noise.ts';

/** What a scene is painted with. The canvas has twice the final size. */
export interface Studio {
  canvas: Raster;
  rng: Rng;
  /** 1/f texture of surfaces. */
  fine: Field;
  /** Smoother field (steeper slope) for clouds and large-scale light. */
  coarse: Field;
  /** Canvas pixels per design pixel: scenes are designed on a canvas of 320 x 320. */
  unit: number;
}

/** Paints a whole scene and returns the things in it, as singular nouns for captions. */
export type Painter = (studio: Studio) => string[];

/** A random shift for a texture, so that no two shapes show the same piece of it. */
export const randomShift = (studio: Studio): [number, number] => [
  studio.rng.integer(studio.fine.size),
  studio.rng.integer(studio.fine.size),
];

/**
 * A radius from the scale-invariant law of dead leaves, density proportional to r^-3 between the two bounds
 * (Lee, Mumford & Huang 2001).
 */
export function scaleInvariantRadius(rng: Rng, smallest: number, largest: number): number {
  const a = smallest ** -2;
  const b = largest ** -2;
  return (a + rng.uniform() * (b - a)) ** -0.5;
}
