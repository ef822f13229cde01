import type { Rng } from '../../core/index.ts';
import { luma, type Raster } from '../raster.ts';
import { atStrength, type StrengthCurve } from '../strength.ts';

/** Largest channel offset of the cast in grey levels. */
export const CAST_SIZE: StrengthCurve = [8, 20, 34, 50, 68, 90];
/** Share of the color that is lost. */
export const COLOR_LOSS: StrengthCurve = [0.2, 0.42, 0.6, 0.76, 0.9, 1];

/** A cast of random hue: offsets that leave luma unchanged before clipping. */
export function colorShift(image: Raster, strength: number, rng: Rng): Raster {
  const angle = rng.uniform(0, 2 * Math.PI);
  const cb = Math.cos(angle);
  const cr = Math.sin(angle);
  const direction = [1.402 * cr, -0.344 * cb - 0.714 * cr, 1.772 * cb];
  const scale = atStrength(CAST_SIZE, strength) / Math.max(...direction.map(Math.abs));
  return { ...image, data: image.data.map((value, i) => value + scale * direction[i % 3]!) };
}

/** Colors drawn towards the grey of equal luma. */
export function desaturation(image: Raster, strength: number): Raster {
  const loss = atStrength(COLOR_LOSS, strength);
  const data = image.data.slice();
  for (let i = 0; i < data.length; i += 3) {
    const grey = luma(data[i]!, data[i + 1]!, data[i + 2]!);
    for (let c = 0; c < 3; c++) data[i + c] = data[i + c]! + loss * (grey - data[i + c]!);
  }
  return { ...image, data };
}
