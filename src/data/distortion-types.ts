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

/**
 * Types of KADID-10k (Lin, Hosu, Saupe, QoMEX 2019) that have no counterpart above. Opt-in: the
 * lexicon names them (lexicon-extra.ts), no trained head or caption of the base checkpoint knows them.
 */
export const KADID_DISTORTIONS = [
  'colorDiffusion',
  'colorDisplacement',
  'colorQuantization',
  'oversaturation',
  'jpeg2000',
  'chromaNoise',
  'denoising',
  'brightening',
  'darkening',
  'meanShift',
  'jitter',
  'patchDisplacement',
  'colorBlocks',
  'contrastChange',
] as const;

/** What goes wrong between the light and a shared file. Opt-in, as above. */
export const CAPTURE_DISTORTIONS = [
  'sensorNoise',
  'demosaicing',
  'cameraShake',
  'apertureBlur',
  'misexposure',
  'whiteBalance',
  'hdrHalo',
  'upscaling',
  'chromaticAberration',
  'recompression',
] as const;

export type ExtraDistortion = (typeof KADID_DISTORTIONS)[number] | (typeof CAPTURE_DISTORTIONS)[number];
/** Every type that can be made. */
export type SynthesizedDistortion = DistortionType | ExtraDistortion;

export const EXTRA_DISTORTIONS: readonly ExtraDistortion[] = [...KADID_DISTORTIONS, ...CAPTURE_DISTORTIONS];
export const SYNTHESIZED_DISTORTIONS: readonly SynthesizedDistortion[] = [
  ...ALL_DISTORTIONS,
  ...EXTRA_DISTORTIONS,
];

/** The 25 types of KADID-10k in the order of its numbering (01 Gaussian blur to 25 contrast change). */
export const KADID25: readonly SynthesizedDistortion[] = [
  'gaussianBlur',
  'defocusBlur',
  'motionBlur',
  'colorDiffusion',
  'colorDisplacement',
  'colorQuantization',
  'desaturation',
  'oversaturation',
  'jpeg2000',
  'jpeg',
  'gaussianNoise',
  'chromaNoise',
  'impulseNoise',
  'speckleNoise',
  'denoising',
  'brightening',
  'darkening',
  'meanShift',
  'jitter',
  'patchDisplacement',
  'pixelation',
  'banding',
  'colorBlocks',
  'oversharpening',
  'contrastChange',
];

/** The twelve capture simulations, from the light to the shared file. */
export const CAPTURE12: readonly SynthesizedDistortion[] = [
  'apertureBlur',
  'cameraShake',
  'chromaticAberration',
  'misexposure',
  'sensorNoise',
  'demosaicing',
  'whiteBalance',
  'hdrHalo',
  'oversharpening',
  'banding',
  'upscaling',
  'recompression',
];

export const DISTORTION_SET_NAMES = ['base', 'kadid25', 'capture', 'all'] as const;
export type DistortionSetName = (typeof DISTORTION_SET_NAMES)[number];

/** The types of a set: `seen` in training, validation and test, `unseen` in the cross split alone. */
export const DISTORTION_SETS: Readonly<
  Record<
    DistortionSetName,
    { seen: readonly SynthesizedDistortion[]; unseen: readonly SynthesizedDistortion[] }
  >
> = {
  base: { seen: TRAINING_DISTORTIONS, unseen: CROSS_DISTORTIONS },
  kadid25: { seen: KADID25, unseen: CAPTURE_DISTORTIONS },
  capture: { seen: CAPTURE12, unseen: KADID_DISTORTIONS },
  all: { seen: SYNTHESIZED_DISTORTIONS, unseen: [] },
};

/** Severity of a distortion, 1 (slight) to 5 (severe). */
export const SEVERITY_LEVELS = [1, 2, 3, 4, 5] as const;
export type SeverityLevel = (typeof SEVERITY_LEVELS)[number];
