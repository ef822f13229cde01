import type { Rng } from '../../core/index.ts';
import { BulkRandom } from '../bulk-random.ts';
import type { Raster } from '../raster.ts';
import { atStrength, type StrengthCurve } from '../strength.ts';
import { fromColorPlanes, toColorPlanes } from './color-planes.ts';
import { bandSizes, forwardWavelet, inverseWavelet } from './wavelet.ts';

/** Step of the quantiser in grey levels, the same in every band of the nearly orthonormal transform. */
export const WAVELET_STEP: StrengthCurve = [5, 12, 25, 46, 80, 130];
/** Standard deviation in grey levels of the noise that is then removed. */
export const DENOISED_STD: StrengthCurve = [4, 9, 15, 23, 34, 48];
/** Threshold in standard deviations of the noise: high, so that texture goes with the noise. */
const SHRINKAGE = 2;
const LEVELS = 5;

type Coefficient = (value: number, isLow: boolean) => number;

/** Luma and color differences through the transform, their coefficients changed, and back. */
function throughWavelet(image: Raster, change: Coefficient): Raster {
  const { width, height } = image;
  const planes = toColorPlanes(image);
  const last = bandSizes(width, height, LEVELS).at(-1);
  const lowWidth = last === undefined ? width : (last.width + 1) >> 1;
  const lowHeight = last === undefined ? height : (last.height + 1) >> 1;
  for (let c = 0; c < 3; c++) {
    const plane = new Float64Array(width * height);
    for (let i = 0; i < plane.length; i++) plane[i] = planes.data[3 * i + c]!;
    forwardWavelet(plane, width, height, LEVELS);
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const i = y * width + x;
        plane[i] = change(plane[i]!, x < lowWidth && y < lowHeight);
      }
    }
    inverseWavelet(plane, width, height, LEVELS);
    for (let i = 0; i < plane.length; i++) planes.data[3 * i + c] = plane[i]!;
  }
  return fromColorPlanes(planes);
}

/**
 * The lossy part of JPEG 2000: color transform, 9/7 wavelet in five levels, uniform quantiser with a dead zone,
 * reconstruction in the middle of the interval (ISO/IEC 15444-1, annexes E to G). The entropy coder is left out:
 * it loses nothing.
 */
export function jpeg2000(image: Raster, strength: number): Raster {
  const step = atStrength(WAVELET_STEP, strength);
  return throughWavelet(image, (value) => {
    const index = Math.floor(Math.abs(value) / step);
    return index === 0 ? 0 : Math.sign(value) * (index + 0.5) * step;
  });
}

/** White noise, then its removal by soft thresholds (Donoho and Johnstone 1994): smeared texture, faint ripples. */
export function denoising(image: Raster, strength: number, rng: Rng): Raster {
  const std = atStrength(DENOISED_STD, strength);
  const random = new BulkRandom(rng);
  const noisy = { ...image, data: image.data.map((value) => value + std * random.normal()) };
  return throughWavelet(noisy, (value, isLow) =>
    isLow ? value : Math.sign(value) * Math.max(0, Math.abs(value) - SHRINKAGE * std),
  );
}
