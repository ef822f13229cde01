import type { RgbImage, Rng } from '../core/index.ts';
import { apertureBlur, cameraShake, chromaticAberration } from './capture/optics.ts';
import { hdrHalo, misexposure, whiteBalance } from './capture/rendering.ts';
import { demosaicing, sensorNoise } from './capture/sensor.ts';
import { recompression, upscaling } from './capture/sharing.ts';
import type { SynthesizedDistortion } from './distortion-types.ts';
import { defocusBlur, gaussianBlur, motionBlur } from './distortions/blur.ts';
import { chromaNoise, colorDiffusion, colorDisplacement, oversaturation } from './distortions/chroma.ts';
import { jpegCompression } from './distortions/codec.ts';
import { colorShift, desaturation } from './distortions/color.ts';
import { brightening, contrastChange, darkening, meanShift } from './distortions/curves.ts';
import { oversharpening, pixelation } from './distortions/detail.ts';
import { colorBlocks, jitter, patchDisplacement } from './distortions/displacement.ts';
import { gaussianNoise, impulseNoise, speckleNoise } from './distortions/noise.ts';
import { colorQuantization } from './distortions/palette.ts';
import { banding, haze, lowContrast, overexposure, underexposure } from './distortions/tone.ts';
import { denoising, jpeg2000 } from './distortions/wavelet-coding.ts';
import { type Raster, toImage, toRaster } from './raster.ts';

export type DistortionFamily = 'blur' | 'noise' | 'compression' | 'exposure' | 'color' | 'detail';

export interface Distortion {
  family: DistortionFamily;
  apply: (image: RgbImage, strength: number, rng: Rng) => RgbImage | Promise<RgbImage>;
}

/** Lifts a floating-point operation to bytes: the result is rounded and clipped as a camera's file would be. */
const onRaster =
  (operation: (image: Raster, strength: number, rng: Rng) => Raster): Distortion['apply'] =>
  (image, strength, rng) =>
    toImage(operation(toRaster(image), strength, rng));

/** How each type is made, and the family it belongs to. */
export const DISTORTIONS: Readonly<Record<SynthesizedDistortion, Distortion>> = {
  gaussianBlur: { family: 'blur', apply: onRaster(gaussianBlur) },
  motionBlur: { family: 'blur', apply: onRaster(motionBlur) },
  gaussianNoise: { family: 'noise', apply: onRaster(gaussianNoise) },
  impulseNoise: { family: 'noise', apply: onRaster(impulseNoise) },
  jpeg: { family: 'compression', apply: jpegCompression },
  pixelation: { family: 'detail', apply: onRaster(pixelation) },
  overexposure: { family: 'exposure', apply: onRaster(overexposure) },
  underexposure: { family: 'exposure', apply: onRaster(underexposure) },
  lowContrast: { family: 'exposure', apply: onRaster(lowContrast) },
  colorShift: { family: 'color', apply: onRaster(colorShift) },
  desaturation: { family: 'color', apply: onRaster(desaturation) },
  banding: { family: 'color', apply: onRaster(banding) },
  oversharpening: { family: 'detail', apply: onRaster(oversharpening) },
  defocusBlur: { family: 'blur', apply: onRaster(defocusBlur) },
  speckleNoise: { family: 'noise', apply: onRaster(speckleNoise) },
  haze: { family: 'exposure', apply: onRaster(haze) },

  colorDiffusion: { family: 'color', apply: onRaster(colorDiffusion) },
  colorDisplacement: { family: 'color', apply: onRaster(colorDisplacement) },
  colorQuantization: { family: 'color', apply: onRaster(colorQuantization) },
  oversaturation: { family: 'color', apply: onRaster(oversaturation) },
  jpeg2000: { family: 'compression', apply: onRaster(jpeg2000) },
  chromaNoise: { family: 'noise', apply: onRaster(chromaNoise) },
  denoising: { family: 'noise', apply: onRaster(denoising) },
  brightening: { family: 'exposure', apply: onRaster(brightening) },
  darkening: { family: 'exposure', apply: onRaster(darkening) },
  meanShift: { family: 'exposure', apply: onRaster(meanShift) },
  jitter: { family: 'detail', apply: onRaster(jitter) },
  patchDisplacement: { family: 'detail', apply: onRaster(patchDisplacement) },
  colorBlocks: { family: 'detail', apply: onRaster(colorBlocks) },
  contrastChange: { family: 'exposure', apply: onRaster(contrastChange) },

  sensorNoise: { family: 'noise', apply: onRaster(sensorNoise) },
  demosaicing: { family: 'detail', apply: demosaicing },
  cameraShake: { family: 'blur', apply: onRaster(cameraShake) },
  apertureBlur: { family: 'blur', apply: onRaster(apertureBlur) },
  misexposure: { family: 'exposure', apply: onRaster(misexposure) },
  whiteBalance: { family: 'color', apply: onRaster(whiteBalance) },
  hdrHalo: { family: 'exposure', apply: onRaster(hdrHalo) },
  upscaling: { family: 'detail', apply: upscaling },
  chromaticAberration: { family: 'blur', apply: onRaster(chromaticAberration) },
  recompression: { family: 'compression', apply: recompression },
};

/**
 * Distorts an image. `strength` runs from 0.5 (just noticeable) to 5.5 (severe); rounded it is the level 1 to 5.
 * The rng decides what the strength leaves open (noise values, direction, hue, grid phase). The input is kept.
 */
export async function applyDistortion(
  image: RgbImage,
  type: SynthesizedDistortion,
  strength: number,
  rng: Rng,
): Promise<RgbImage> {
  return DISTORTIONS[type].apply(image, strength, rng);
}
