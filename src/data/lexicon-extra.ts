import type { ExtraDistortion, TrainingDistortion } from './distortion-types.ts';

export interface DistortionWords {
  /** Names used in writing, the canonical one first. A phrase names one type only. */
  phrases: readonly [string, ...string[]];
  /** Further spellings that are understood but never written. */
  aliases: readonly string[];
  /** What the distortion does to a picture: clauses without names, levels or severities. */
  effects: readonly [string, ...string[]];
}

/** Words for the types of KADID-10k and the capture simulations that the first set lacks, on the same terms. */
export const EXTRA_DISTORTION_WORDS: Readonly<Record<ExtraDistortion, DistortionWords>> = {
  colorDiffusion: {
    phrases: ['color diffusion', 'color bleeding'],
    aliases: ['colour diffusion', 'colour bleeding', 'chroma blur'],
    effects: ['hues run over the outlines', 'the palette spreads beyond the shapes'],
  },
  colorDisplacement: {
    phrases: ['color displacement', 'misplaced color'],
    aliases: ['colour displacement', 'misplaced colour', 'color misregistration', 'colour misregistration'],
    effects: ['one hue stands beside its shape', 'hues and outlines do not meet'],
  },
  colorQuantization: {
    phrases: ['color quantization', 'reduced palette'],
    aliases: ['colour quantization', 'color quantisation', 'colour quantisation'],
    effects: ['few hues are left', 'hues jump from patch to patch'],
  },
  oversaturation: {
    phrases: ['oversaturation', 'gaudy color'],
    aliases: ['over saturation', 'gaudy colour', 'gaudy colors', 'gaudy colours', 'oversaturated colors'],
    effects: ['hues glow beyond nature', 'the palette is too rich'],
  },
  jpeg2000: {
    phrases: ['wavelet compression', 'wavelet artifacts'],
    aliases: ['wavelet artefacts', 'jpeg2000 compression', 'jpeg2000 artifacts'],
    effects: ['texture melts into smooth stains', 'faint ripples follow the outlines'],
  },
  chromaNoise: {
    phrases: ['chroma noise', 'color noise'],
    aliases: ['colour noise', 'chrominance noise', 'colored noise', 'coloured noise'],
    effects: ['colored grain covers flat regions', 'grain of many hues appears'],
  },
  denoising: {
    phrases: ['denoising artifacts', 'overdone denoising'],
    aliases: ['denoising artefacts', 'excessive denoising', 'excessive noise reduction'],
    effects: ['texture looks like wax', 'fine structure is wiped away'],
  },
  brightening: {
    phrases: ['raised brightness', 'brightened tones'],
    aliases: ['artificial brightening'],
    effects: ['mid tones are pushed up', 'the whole scene looks too light'],
  },
  darkening: {
    phrases: ['lowered brightness', 'darkened tones'],
    aliases: ['reduced brightness', 'artificial darkening'],
    effects: ['mid tones are pulled down', 'the whole scene looks heavy'],
  },
  meanShift: {
    phrases: ['mean shift', 'intensity offset'],
    aliases: ['brightness offset'],
    effects: ['all tones are moved by one amount', 'black and white points are moved'],
  },
  jitter: {
    phrases: ['pixel jitter', 'jittered pixels'],
    aliases: ['jitter'],
    effects: ['outlines look frayed', 'points stray from their places'],
  },
  patchDisplacement: {
    phrases: ['displaced patches', 'misplaced patches'],
    aliases: ['patch displacement', 'non eccentricity patches', 'non eccentricity patch'],
    effects: ['small squares repeat their neighbors', 'pieces of texture sit in wrong places'],
  },
  colorBlocks: {
    phrases: ['color blocks', 'solid squares'],
    aliases: ['colour blocks', 'colored blocks', 'coloured blocks'],
    effects: ['flat patches cover the scene', 'parts of the scene are hidden'],
  },
  contrastChange: {
    phrases: ['contrast change', 'altered contrast'],
    aliases: ['changed contrast', 'unnatural contrast'],
    effects: ['the tone curve looks unnatural', 'mid tones are stretched or squeezed'],
  },
  sensorNoise: {
    phrases: ['sensor noise', 'shot noise'],
    aliases: ['high iso noise', 'photon noise'],
    effects: ['dark regions crawl with grain', 'grain of the camera hides the texture'],
  },
  demosaicing: {
    phrases: ['demosaicing artifacts', 'color moire'],
    aliases: ['demosaicing artefacts', 'colour moire', 'zipper artifacts'],
    effects: ['fine stripes show false hues', 'zigzag lines follow the outlines'],
  },
  cameraShake: {
    phrases: ['camera shake', 'shaky capture'],
    aliases: ['hand shake', 'shaken camera'],
    effects: ['points trace a crooked path', 'outlines are doubled along a path'],
  },
  apertureBlur: {
    phrases: ['aperture blur', 'missed focus'],
    aliases: ['misfocus'],
    effects: ['lights spread into polygons', 'points open into the shape of the iris'],
  },
  misexposure: {
    phrases: ['misexposure', 'wrong exposure'],
    aliases: ['mis exposure', 'incorrect exposure', 'exposure error'],
    effects: ['the light was metered wrongly', 'tones sit far from where they belong'],
  },
  whiteBalance: {
    phrases: ['wrong white balance', 'white balance error'],
    aliases: ['incorrect white balance', 'white balance shift'],
    effects: ['neutral surfaces look tinted', 'grays lean to one hue'],
  },
  hdrHalo: {
    phrases: ['hdr halos', 'tone mapping halos'],
    aliases: ['hdr halo', 'hdr artifacts', 'tone mapping artifacts'],
    effects: ['a glow follows large outlines', 'local tones are flattened'],
  },
  upscaling: {
    phrases: ['upscaling artifacts', 'interpolated detail'],
    aliases: ['upscaling', 'upsampling artifacts'],
    effects: ['outlines look rounded and swollen', 'no detail is as fine as the grid'],
  },
  chromaticAberration: {
    phrases: ['chromatic aberration', 'color fringes'],
    aliases: ['colour fringes', 'color fringing', 'colour fringing', 'purple fringing'],
    effects: ['outlines bear hues at the border', 'hues part toward the corners'],
  },
  recompression: {
    phrases: ['recompression', 'repeated compression'],
    aliases: ['re compression', 'generation loss'],
    effects: ['many rounds of coding left their marks', 'the picture has been saved again and again'],
  },
};

/**
 * The training type that an extra type resembles most, itself where none looks like it: both blurs of a lens and an
 * enlargement are low-passes, a shake is motion, noise in colors is noise, and a wrong white balance is a cast.
 */
export const NEAREST_OF_EXTRA: Readonly<Record<ExtraDistortion, TrainingDistortion | ExtraDistortion>> = {
  colorDiffusion: 'colorDiffusion',
  colorDisplacement: 'colorDisplacement',
  colorQuantization: 'banding',
  oversaturation: 'oversaturation',
  jpeg2000: 'jpeg',
  chromaNoise: 'gaussianNoise',
  denoising: 'gaussianBlur',
  brightening: 'overexposure',
  darkening: 'underexposure',
  meanShift: 'meanShift',
  jitter: 'jitter',
  patchDisplacement: 'patchDisplacement',
  colorBlocks: 'colorBlocks',
  contrastChange: 'contrastChange',
  sensorNoise: 'gaussianNoise',
  demosaicing: 'demosaicing',
  cameraShake: 'motionBlur',
  apertureBlur: 'gaussianBlur',
  misexposure: 'misexposure',
  whiteBalance: 'colorShift',
  hdrHalo: 'oversharpening',
  upscaling: 'gaussianBlur',
  chromaticAberration: 'chromaticAberration',
  recompression: 'jpeg',
};
