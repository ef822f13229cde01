import type { Rng } from '../../core/index.ts';
import { luma, type Raster } from '../raster.ts';
import { atStrength, type StrengthCurve } from '../strength.ts';

export const OVER_GAIN: StrengthCurve = [1.08, 1.3, 1.55, 1.85, 2.25, 2.8];
export const OVER_LIFT: StrengthCurve = [0, 4, 8, 14, 22, 32];
export const UNDER_GAMMA: StrengthCurve = [1.08, 1.25, 1.5, 1.8, 2.15, 2.6];
export const UNDER_GAIN: StrengthCurve = [0.96, 0.83, 0.68, 0.55, 0.43, 0.32];
/** Factor on the distance of every value from the image's mean luma. */
export const CONTRAST: StrengthCurve = [0.9, 0.7, 0.54, 0.41, 0.29, 0.19];
/** Number of tone steps per channel. */
export const BAND_STEPS: StrengthCurve = [24, 15, 10, 7, 4.6, 3];
/** Share of the scene's light that reaches the camera. */
export const HAZE_TRANSMISSION: StrengthCurve = [0.92, 0.78, 0.64, 0.5, 0.37, 0.26];

const mapValues = (image: Raster, change: (value: number) => number): Raster => ({
  ...image,
  data: image.data.map(change),
});

/** Too much light: gain and lift, highlights clipped at white. */
export function overexposure(image: Raster, strength: number): Raster {
  const gain = atStrength(OVER_GAIN, strength);
  const lift = atStrength(OVER_LIFT, strength);
  return mapValues(image, (value) => value * gain + lift);
}

/** Too little light: a darkening gamma, then a loss of gain. */
export function underexposure(image: Raster, strength: number): Raster {
  const gamma = atStrength(UNDER_GAMMA, strength);
  const gain = 255 * atStrength(UNDER_GAIN, strength);
  return mapValues(image, (value) => gain * (value / 255) ** gamma);
}

export const meanLuma = ({ data }: Raster): number => {
  let sum = 0;
  for (let i = 0; i < data.length; i += 3) sum += luma(data[i]!, data[i + 1]!, data[i + 2]!);
  return sum / (data.length / 3);
};

/** Tones drawn together about the image's mean luma. */
export function lowContrast(image: Raster, strength: number): Raster {
  const factor = atStrength(CONTRAST, strength);
  const mean = meanLuma(image);
  return mapValues(image, (value) => mean + factor * (value - mean));
}

/** Too few tones: each channel rounded to evenly spaced steps. */
export function banding(image: Raster, strength: number): Raster {
  const steps = atStrength(BAND_STEPS, strength) - 1;
  return mapValues(image, (value) => (Math.round((value / 255) * steps) / steps) * 255);
}

/**
 * Haze by the scattering model I = J t + A (1 - t) (Koschmieder 1924), airlight A near white, transmission t
 * falling by a third from the bottom edge (near) to the top edge (far).
 */
export function haze(image: Raster, strength: number, rng: Rng): Raster {
  const transmission = atStrength(HAZE_TRANSMISSION, strength);
  const airlight = rng.uniform(205, 235);
  const row = image.width * 3;
  return {
    ...image,
    data: image.data.map((value, i) => {
      const height = Math.floor(i / row) / Math.max(1, image.height - 1);
      const t = Math.min(1, transmission * (0.84 + 0.32 * height));
      return value * t + airlight * (1 - t);
    }),
  };
}
