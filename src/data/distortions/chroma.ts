import type { Rng } from '../../core/index.ts';
import { BulkRandom } from '../bulk-random.ts';
import { convolveSeparable, gaussianKernel } from '../convolution.ts';
import type { Raster } from '../raster.ts';
import { atStrength, type StrengthCurve } from '../strength.ts';
import { fromColorPlanes, toColorPlanes } from './color-planes.ts';
import { sampleAt } from './sampling.ts';

/** Standard deviation in pixels of the blur of the color planes. */
export const DIFFUSION_SIGMA: StrengthCurve = [0.5, 1.5, 3, 5, 8, 12];
/** Distance in pixels between the color planes and the luma plane. */
export const DISPLACEMENT: StrengthCurve = [0.5, 1.5, 3, 5, 7.5, 11];
/** Factor on both color differences. */
export const SATURATION: StrengthCurve = [1.15, 1.5, 2, 2.7, 3.7, 5];
/** Standard deviation in grey levels of the noise in each color difference. */
export const CHROMA_NOISE_STD: StrengthCurve = [4, 9, 16, 26, 39, 56];

/** Both color differences mapped, luma untouched. `i` is the index of the value. */
function mapColor(planes: Raster, change: (value: number, i: number) => number): Raster {
  return fromColorPlanes({
    ...planes,
    data: planes.data.map((value, i) => (i % 3 === 0 ? value : change(value, i))),
  });
}

/** Color runs over the outlines: the color planes are blurred, luma is not. */
export function colorDiffusion(image: Raster, strength: number): Raster {
  const planes = toColorPlanes(image);
  const blurred = convolveSeparable(planes, gaussianKernel(atStrength(DIFFUSION_SIGMA, strength)));
  return mapColor(planes, (_, i) => blurred.data[i]!);
}

/** Color printed beside its outline: the color planes are moved in a random direction. */
export function colorDisplacement(image: Raster, strength: number, rng: Rng): Raster {
  const distance = atStrength(DISPLACEMENT, strength);
  const angle = rng.uniform(0, 2 * Math.PI);
  const dx = distance * Math.cos(angle);
  const dy = distance * Math.sin(angle);
  const planes = toColorPlanes(image);
  return mapColor(planes, (_, i) => {
    const pixel = Math.floor(i / 3);
    return sampleAt(planes, (pixel % image.width) + dx, Math.floor(pixel / image.width) + dy, i % 3);
  });
}

export function oversaturation(image: Raster, strength: number): Raster {
  const factor = atStrength(SATURATION, strength);
  return mapColor(toColorPlanes(image), (value) => value * factor);
}

/** White noise in the color differences alone. */
export function chromaNoise(image: Raster, strength: number, rng: Rng): Raster {
  const std = atStrength(CHROMA_NOISE_STD, strength);
  const random = new BulkRandom(rng);
  return mapColor(toColorPlanes(image), (value) => value + std * random.normal());
}
