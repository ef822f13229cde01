import type { RgbImage, Rng } from '../../core/index.ts';
import { BulkRandom } from '../bulk-random.ts';
import { createRaster, type Raster, toImage, toRaster } from '../raster.ts';
import { atStrength, type StrengthCurve } from '../strength.ts';
import { fromLight, toLight } from './linear-light.ts';
import { siteColor, throughMosaic } from './mosaic.ts';
import { resizeTo, scaled } from './resize.ts';

/** Electrons that a photosite holds at white: fewer at a higher sensitivity. */
export const WHITE_ELECTRONS: StrengthCurve = [6000, 1500, 500, 180, 65, 24];
/** Standard deviation of the electronics' noise, in electrons. */
export const READ_NOISE = 3;
/** Edge of a photosite in pixels of the picture. */
export const SITE_EDGE: StrengthCurve = [1, 1.25, 1.6, 2.1, 2.8, 3.8];

/**
 * Photon and read noise of a sensor: variance x N + r^2 electrons at light x (the Poisson count by its normal
 * approximation), drawn at the photosites and spread by the demosaicing, which makes it coarse and coloured.
 */
export function sensorNoise(image: Raster, strength: number, rng: Rng): Raster {
  const electrons = atStrength(WHITE_ELECTRONS, strength);
  const random = new BulkRandom(rng);
  const light = toLight(image);
  const { width, height } = image;
  const noise = createRaster(width, height);
  for (let i = 0; i < width * height; i++) {
    const at = 3 * i + siteColor(i % width, Math.floor(i / width));
    const variance = light.data[at]! * electrons + READ_NOISE ** 2;
    noise.data[at] = (Math.sqrt(variance) * random.normal()) / electrons;
  }
  const spread = throughMosaic(noise);
  return fromLight({ ...light, data: light.data.map((value, i) => value + spread.data[i]!) });
}

/** One color per photosite, the others interpolated: zippers and false color, the coarser the larger the sites. */
export async function demosaicing(image: RgbImage, strength: number): Promise<RgbImage> {
  const factor = 1 / atStrength(SITE_EDGE, strength);
  const small = await resizeTo(image, scaled(image, factor), 'lanczos3');
  return resizeTo(toImage(throughMosaic(toRaster(small))), image, 'cubic');
}
