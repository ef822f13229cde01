import type { Rng } from '../../core/index.ts';
import { BulkRandom } from '../bulk-random.ts';
import type { Raster } from '../raster.ts';
import { atStrength, type StrengthCurve } from '../strength.ts';

/** Standard deviation in grey levels, independent in each channel. */
export const GAUSSIAN_NOISE_STD: StrengthCurve = [3, 7, 13, 21, 32, 46];
/** Standard deviation relative to the pixel's own value. */
export const SPECKLE_STD: StrengthCurve = [0.03, 0.07, 0.12, 0.19, 0.28, 0.4];
/** Share of pixels replaced, half by black and half by white. */
export const IMPULSE_SHARE: StrengthCurve = [0.002, 0.008, 0.02, 0.045, 0.09, 0.16];

export function gaussianNoise(image: Raster, strength: number, rng: Rng): Raster {
  const std = atStrength(GAUSSIAN_NOISE_STD, strength);
  const random = new BulkRandom(rng);
  return { ...image, data: image.data.map((value) => value + std * random.normal()) };
}

export function speckleNoise(image: Raster, strength: number, rng: Rng): Raster {
  const std = atStrength(SPECKLE_STD, strength);
  const random = new BulkRandom(rng);
  return { ...image, data: image.data.map((value) => value * (1 + std * random.normal())) };
}

/** Salt and pepper: whole pixels, not single channels. */
export function impulseNoise(image: Raster, strength: number, rng: Rng): Raster {
  const share = atStrength(IMPULSE_SHARE, strength);
  const random = new BulkRandom(rng);
  const data = image.data.slice();
  for (let at = 0; at < data.length; at += 3) {
    const u = random.uniform();
    if (u < share) data.fill(u < share / 2 ? 0 : 255, at, at + 3);
  }
  return { ...image, data };
}
