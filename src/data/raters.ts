import type { Rng } from '../core/index.ts';
import type { SynthesizedDistortion } from './distortion-types.ts';
import type { SceneKind } from './scenes.ts';
import { atStrength, type StrengthCurve } from './strength.ts';

/**
 * The rater model behind every generated MOS. It is ours, made up to behave like laboratory studies, not fitted to
 * one; results on generated data say how well a model learns this rule, not how well it matches people.
 *
 *   quality q = 4.7 + liking - max(d) - 0.4 (sum(d) - max(d)),   d = drop(type, strength) (1 - masking)
 *   rating of rater i = clamp(q + bias_i + noise_i, 1, 5),   MOS and its std are those of n ratings
 *
 * liking is a small preference for the content. masking says how far the content hides a distortion: noise hides
 * in busy texture, blur in smooth regions.
 */
export const RATER_MODEL = {
  raters: 20,
  pristineQuality: 4.7,
  /** Weight of every further distortion beside the worst one. */
  secondaryWeight: 0.4,
  /** Standard deviation of the preference for a scene, beyond that for its kind. */
  likingStd: 0.08,
  /** Standard deviation over raters of their personal offset, and of each single rating. */
  biasStd: 0.35,
  noiseStd: 0.45,
} as const;

const LIKING: Readonly<Record<SceneKind | 'photograph', number>> = {
  landscape: 0.08,
  foliage: 0.03,
  pebbles: -0.02,
  objects: 0.02,
  buildings: 0,
  sign: -0.08,
  photograph: 0,
};

/** Loss of quality in points at strengths 0 to 5, without masking. Strictly increasing. */
export const QUALITY_DROP: Readonly<Record<SynthesizedDistortion, StrengthCurve>> = {
  gaussianBlur: [0, 0.55, 1.3, 2.1, 2.9, 3.5],
  motionBlur: [0, 0.55, 1.2, 1.95, 2.7, 3.3],
  gaussianNoise: [0, 0.4, 0.95, 1.7, 2.45, 3.2],
  impulseNoise: [0, 0.6, 1.25, 2.0, 2.75, 3.4],
  jpeg: [0, 0.4, 1.05, 1.9, 2.8, 3.5],
  pixelation: [0, 0.7, 1.4, 2.15, 2.9, 3.5],
  overexposure: [0, 0.4, 0.95, 1.6, 2.3, 3.0],
  underexposure: [0, 0.4, 0.95, 1.6, 2.4, 3.1],
  lowContrast: [0, 0.35, 0.85, 1.4, 2.0, 2.7],
  colorShift: [0, 0.35, 0.8, 1.35, 2.0, 2.7],
  desaturation: [0, 0.2, 0.5, 0.85, 1.25, 1.65],
  banding: [0, 0.35, 0.85, 1.5, 2.25, 3.0],
  oversharpening: [0, 0.35, 0.85, 1.4, 2.05, 2.7],
  defocusBlur: [0, 0.55, 1.3, 2.1, 2.9, 3.5],
  speckleNoise: [0, 0.4, 0.95, 1.7, 2.45, 3.2],
  haze: [0, 0.35, 0.85, 1.45, 2.1, 2.8],

  colorDiffusion: [0, 0.2, 0.5, 0.95, 1.5, 2.1],
  colorDisplacement: [0, 0.4, 0.9, 1.5, 2.1, 2.7],
  colorQuantization: [0, 0.4, 0.9, 1.55, 2.3, 3.1],
  oversaturation: [0, 0.25, 0.65, 1.15, 1.75, 2.4],
  jpeg2000: [0, 0.4, 1.05, 1.9, 2.8, 3.5],
  chromaNoise: [0, 0.3, 0.75, 1.35, 2.05, 2.8],
  denoising: [0, 0.35, 0.9, 1.6, 2.4, 3.1],
  brightening: [0, 0.3, 0.75, 1.3, 1.95, 2.7],
  darkening: [0, 0.3, 0.8, 1.4, 2.1, 2.9],
  meanShift: [0, 0.25, 0.6, 1.05, 1.6, 2.3],
  jitter: [0, 0.5, 1.15, 1.9, 2.7, 3.4],
  patchDisplacement: [0, 0.3, 0.7, 1.2, 1.75, 2.3],
  colorBlocks: [0, 0.6, 1.1, 1.65, 2.25, 2.9],
  contrastChange: [0, 0.25, 0.65, 1.15, 1.75, 2.4],

  sensorNoise: [0, 0.4, 0.95, 1.7, 2.5, 3.3],
  demosaicing: [0, 0.45, 1.0, 1.7, 2.4, 3.1],
  cameraShake: [0, 0.55, 1.2, 1.95, 2.7, 3.4],
  apertureBlur: [0, 0.55, 1.3, 2.1, 2.9, 3.5],
  misexposure: [0, 0.35, 0.85, 1.5, 2.25, 3.0],
  whiteBalance: [0, 0.3, 0.7, 1.25, 1.9, 2.6],
  hdrHalo: [0, 0.3, 0.7, 1.25, 1.85, 2.5],
  upscaling: [0, 0.4, 1.0, 1.75, 2.55, 3.3],
  chromaticAberration: [0, 0.35, 0.8, 1.35, 1.95, 2.6],
  recompression: [0, 0.4, 1.05, 1.85, 2.65, 3.4],
};

/**
 * Largest share of a distortion that content hides: positive numbers are hidden by detail (times busyness),
 * negative ones by its absence (times 1 - busyness).
 */
export const MASKING: Readonly<Record<SynthesizedDistortion, number>> = {
  gaussianBlur: -0.3,
  motionBlur: -0.3,
  gaussianNoise: 0.3,
  impulseNoise: 0.15,
  jpeg: 0.2,
  pixelation: -0.25,
  overexposure: 0,
  underexposure: 0,
  lowContrast: 0.1,
  colorShift: 0,
  desaturation: 0,
  banding: 0.3,
  oversharpening: -0.2,
  defocusBlur: -0.3,
  speckleNoise: 0.3,
  haze: 0.1,

  colorDiffusion: 0.1,
  colorDisplacement: 0,
  colorQuantization: 0.25,
  oversaturation: 0,
  jpeg2000: 0.15,
  chromaNoise: 0.25,
  denoising: -0.2,
  brightening: 0,
  darkening: 0,
  meanShift: 0,
  jitter: 0.1,
  patchDisplacement: 0.3,
  colorBlocks: 0.05,
  contrastChange: 0,

  sensorNoise: 0.3,
  demosaicing: -0.2,
  cameraShake: -0.3,
  apertureBlur: -0.3,
  misexposure: 0,
  whiteBalance: 0,
  hdrHalo: 0.1,
  upscaling: -0.3,
  chromaticAberration: -0.15,
  recompression: 0.1,
};

/** Share of a distortion that the content hides, 0 to 0.3; busyness is in [0, 1]. */
export function maskingOf(type: SynthesizedDistortion, busyness: number): number {
  const most = MASKING[type];
  return most >= 0 ? most * busyness : -most * (1 - busyness);
}

export interface AppliedDistortion {
  type: SynthesizedDistortion;
  /** 0 to 5.5. */
  strength: number;
}

/** Quality before any rater sees it; may leave [1, 5] slightly. `liking` defaults to none. */
export function qualityOf(distortions: readonly AppliedDistortion[], busyness: number, liking = 0): number {
  const drops = distortions.map(
    ({ type, strength }) => atStrength(QUALITY_DROP[type], strength) * (1 - maskingOf(type, busyness)),
  );
  const worst = Math.max(0, ...drops);
  const rest = drops.reduce((sum, drop) => sum + drop, 0) - worst;
  return RATER_MODEL.pristineQuality + liking - worst - RATER_MODEL.secondaryWeight * rest;
}

/** Preference of all raters for a scene: its kind's and its own. */
export const likingOf = (kind: SceneKind | 'photograph', rng: Rng): number =>
  LIKING[kind] + rng.normal(0, RATER_MODEL.likingStd);

export interface Opinion {
  /** Mean of the ratings, 1 to 5. */
  mos: number;
  /** Sample standard deviation of the ratings (divisor n - 1; 0 for one rater). */
  std: number;
  raters: number;
}

/** Lets n raters judge a quality. Rating noise does not depend on the quality, so a worse image never gains. */
export function rate(quality: number, rng: Rng, raters: number = RATER_MODEL.raters): Opinion {
  if (!Number.isInteger(raters) || raters < 1)
    throw new RangeError(`raters must be 1 or more, got ${raters}`);
  const ratings = Array.from({ length: raters }, () => {
    const bias = rng.normal(0, RATER_MODEL.biasStd);
    return Math.max(1, Math.min(5, quality + bias + rng.normal(0, RATER_MODEL.noiseStd)));
  });
  const mos = ratings.reduce((sum, rating) => sum + rating, 0) / raters;
  const squares = ratings.reduce((sum, rating) => sum + (rating - mos) ** 2, 0);
  return { mos, std: raters === 1 ? 0 : Math.sqrt(squares / (raters - 1)), raters };
}
