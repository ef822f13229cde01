import type { QualityLevel } from '../core/index.ts';
import type {
  ExtraDistortion,
  SeverityLevel,
  SynthesizedDistortion,
  TrainingDistortion,
} from './distortion-types.ts';
import { type DistortionWords, EXTRA_DISTORTION_WORDS, NEAREST_OF_EXTRA } from './lexicon-extra.ts';

export type { DistortionWords } from './lexicon-extra.ts';

/**
 * The closed vocabulary in which captions and reasoning about generated images are written. Lower case, few
 * words, so that a small tokenizer holds each as one token. lexicon-reading.ts reads the same phrases back.
 */

/** The words of every type that can be made. What models were trained on names those written out here alone. */
export const DISTORTION_WORDS: Readonly<Record<SynthesizedDistortion, DistortionWords>> = {
  gaussianBlur: {
    phrases: ['gaussian blur', 'soft blur'],
    aliases: [],
    effects: ['edges lose their detail', 'fine texture is smoothed away'],
  },
  motionBlur: {
    phrases: ['motion blur', 'directional blur'],
    aliases: [],
    effects: ['objects smear along one direction', 'edges are streaked to one side'],
  },
  gaussianNoise: {
    phrases: ['white noise', 'grainy noise'],
    aliases: ['gaussian noise'],
    effects: ['random grain covers flat regions', 'fine grain hides the texture'],
  },
  impulseNoise: {
    phrases: ['impulse noise', 'salt and pepper noise'],
    aliases: [],
    effects: ['isolated dots cover the scene', 'black and white dots appear'],
  },
  jpeg: {
    phrases: ['jpeg compression', 'blocking artifacts'],
    aliases: ['jpeg artifacts'],
    effects: ['block edges appear in flat regions', 'a grid of blocks breaks the shapes'],
  },
  pixelation: {
    phrases: ['pixelation', 'low resolution'],
    aliases: [],
    effects: ['shapes turn into coarse squares', 'outlines look like stairs'],
  },
  overexposure: {
    phrases: ['overexposure', 'blown highlights'],
    aliases: ['over exposure'],
    effects: ['bright regions are clipped', 'detail is lost in bright regions'],
  },
  underexposure: {
    phrases: ['underexposure', 'deep darkness'],
    aliases: ['under exposure'],
    effects: ['dark regions hide detail', 'the scene is too dim'],
  },
  lowContrast: {
    phrases: ['low contrast', 'washed out tones'],
    aliases: [],
    effects: ['tones look flat and gray', 'the scene lacks depth'],
  },
  colorShift: {
    phrases: ['color shift', 'color cast'],
    aliases: ['colour shift', 'colour cast'],
    effects: ['hues look unnatural', 'the palette looks wrong'],
  },
  desaturation: {
    phrases: ['desaturation', 'faded color'],
    aliases: ['faded colour', 'faded colors'],
    effects: ['hues look pale and dull', 'the palette has little color'],
  },
  banding: {
    phrases: ['banding', 'coarse quantization'],
    aliases: [],
    effects: ['smooth gradients break into steps', 'flat steps replace the shading'],
  },
  oversharpening: {
    phrases: ['oversharpening', 'ringing halos'],
    aliases: ['over sharpening'],
    effects: ['bright lines surround the edges', 'edges look harsh'],
  },
  defocusBlur: {
    phrases: ['defocus blur', 'lens blur'],
    aliases: ['out of focus blur'],
    effects: ['points spread into discs', 'the whole scene is out of focus'],
  },
  speckleNoise: {
    phrases: ['speckle noise', 'multiplicative noise'],
    aliases: [],
    effects: ['grain grows with brightness', 'bright regions look rough'],
  },
  haze: {
    phrases: ['haze', 'thin fog'],
    aliases: [],
    effects: ['a gray veil covers the scene', 'distant detail fades away'],
  },
  ...EXTRA_DISTORTION_WORDS,
};

/** How the absence of distortion is written. */
export const PRISTINE_WORDS = {
  phrases: ['no visible distortion', 'no clear artifacts'],
  effects: ['edges are crisp and texture is clear', 'detail and color look natural'],
} as const;

/**
 * The training type that an unseen type resembles most, for naming a near relative: a defocus disc is a
 * low-pass like a Gaussian, speckle is grain, haze lifts the blacks. Training types map to themselves, and so do
 * extra types that look like none of them.
 */
export const NEAREST_TRAINING_TYPE: Readonly<
  Record<SynthesizedDistortion, TrainingDistortion | ExtraDistortion>
> = {
  gaussianBlur: 'gaussianBlur',
  motionBlur: 'motionBlur',
  gaussianNoise: 'gaussianNoise',
  impulseNoise: 'impulseNoise',
  jpeg: 'jpeg',
  pixelation: 'pixelation',
  overexposure: 'overexposure',
  underexposure: 'underexposure',
  lowContrast: 'lowContrast',
  colorShift: 'colorShift',
  desaturation: 'desaturation',
  banding: 'banding',
  oversharpening: 'oversharpening',
  defocusBlur: 'gaussianBlur',
  speckleNoise: 'gaussianNoise',
  haze: 'lowContrast',
  ...NEAREST_OF_EXTRA,
};

export const SEVERITY_WORDS: Readonly<Record<SeverityLevel, string>> = {
  1: 'slight',
  2: 'mild',
  3: 'moderate',
  4: 'strong',
  5: 'severe',
};

/** Closing remarks that go with each quality level, without the level word itself. */
export const CONCLUSIONS: Readonly<Record<QualityLevel, readonly [string, ...string[]]>> = {
  bad: ['viewing is very unpleasant', 'the image is hardly usable'],
  poor: ['viewing is unpleasant', 'the image annoys the viewer'],
  fair: ['viewing is acceptable', 'the image is still usable'],
  good: ['viewing is pleasant', 'the image pleases the viewer'],
  excellent: ['viewing is very pleasant', 'the image delights the viewer'],
};
