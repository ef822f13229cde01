/** Identifiers of the generated distortions. The phrases that name them are in lexicon.ts. */

/** Types that training, validation and the held-out test contain. */
export const TRAINING_DISTORTIONS = [
  'gaussianBlur',
  'motionBlur',
  'gaussianNoise',
  'impulseNoise',
  'jpeg',
  'pixelation',
  'overexposure',
  'underexposure',
  'lowContrast',
  'colorShift',
  'desaturation',
  'banding',
  'oversharpening',
] as const;

/** Types that only the cross-domain test contains. */
export const CROSS_DISTORTIONS = ['defocusBlur', 'speckleNoise', 'haze'] as const;

export type TrainingDistortion = (typeof TRAINING_DISTORTIONS)[number];
export type CrossDistortion = (typeof CROSS_DISTORTIONS)[number];
export type DistortionType = TrainingDistortion | CrossDistortion;

export const ALL_DISTORTIONS: readonly DistortionType[] = [...TRAINING_DISTORTIONS, ...CROSS_DISTORTIONS];

/** Severity of a distortion, 1 (slight) to 5 (severe). */
export const SEVERITY_LEVELS = [1, 2, 3, 4, 5] as const;
export type SeverityLevel = (typeof SEVERITY_LEVELS)[number];
