import type { SynthesizedDistortion } from '../data/index.ts';

/**
 * Anybody's words for distortions, in families that a viewer cannot confuse with each other. The lexicon reads our
 * own fixed names; a model's free text says "blurry" or "grainy", and knows no difference between two noises. A type
 * may belong to several: a wrong exposure is too bright or too dark.
 */
interface Family {
  /** The distortion types that belong to it. */
  types: readonly SynthesizedDistortion[];
  words: RegExp;
}

export const FAMILIES: Readonly<Record<string, Family>> = {
  blur: {
    types: [
      'gaussianBlur',
      'motionBlur',
      'defocusBlur',
      'apertureBlur',
      'cameraShake',
      'denoising',
      'upscaling',
    ],
    words:
      /\bblur\w*|\bout[- ]of[- ]focus|\bunsharp|\bsmear\w*|\bsoft(?:ness)? (?:edges|focus|details?)|\black\w* (?:of )?(?:sharpness|clarity|focus)|模糊|失焦|虚焦|拖影|不清晰|不够清晰/gi,
  },
  noise: {
    types: ['gaussianNoise', 'impulseNoise', 'speckleNoise', 'chromaNoise', 'sensorNoise'],
    words: /\bnois[ey]\b|\bgrain(?:y|iness)?\b|\bspeckle\w*|\bspecks\b|噪声|噪点|颗粒/gi,
  },
  blocks: {
    types: [
      'jpeg',
      'pixelation',
      'jpeg2000',
      'recompression',
      'upscaling',
      'colorBlocks',
      'patchDisplacement',
    ],
    words:
      /\bjpe?g\b|\bcompress\w*|\bblock(?:ing|y|iness|s)\b|\bpixelat\w*|\blow[- ]resolution|\bjagged|\bartifacts|\bartefacts|压缩|块效应|块状|马赛克|像素化|分辨率(?:低|不足|较低)/gi,
  },
  banding: {
    types: ['banding', 'colorQuantization'],
    words: /\bbanding\b|\bbands\b|\bposteri[sz]\w*|\bquanti[sz]ation|色带|断层/gi,
  },
  bright: {
    types: ['overexposure', 'brightening', 'misexposure', 'meanShift'],
    words:
      /\bover-?\s?expos\w*|\bblown\b|\bclipped\b|\btoo bright|\boverly bright|\bwashed[- ]out|过曝|过亮|高光溢出|曝光过度/gi,
  },
  dark: {
    types: ['underexposure', 'darkening', 'misexposure', 'meanShift'],
    words: /\bunder-?\s?expos\w*|\btoo dark|\boverly dark|\bdarkness\b|\bdim\b|欠曝|过暗|偏暗|曝光不足/gi,
  },
  contrast: {
    types: ['lowContrast', 'haze', 'contrastChange', 'meanShift'],
    words:
      /\b(?:low|poor|weak|reduced) contrast|\black\w* (?:of )?contrast|\bhaz[ey]\b|\bfog\w*|\bwashed[- ]out|\bflat tones|对比度(?:低|不足|较低|偏低)|灰平|灰蒙|雾/gi,
  },
  color: {
    types: ['colorShift', 'desaturation', 'whiteBalance', 'oversaturation'],
    words:
      /\bcolou?r (?:cast|shift)|\btint\w*|\bunnatural (?:colou?rs?|hues?)|\bdesaturat\w*|\bfaded\b|\b(?:dull|pale|muted) colou?rs?|偏色|色偏|饱和度(?:低|不足|较低|偏低)|褪色/gi,
  },
  halos: {
    types: ['oversharpening', 'hdrHalo'],
    words: /\bover-?\s?sharpen\w*|\bhalos?\b|\bringing\b|过度锐化|光晕|振铃/gi,
  },
  smoothing: {
    types: ['denoising', 'upscaling'],
    words:
      /\bover-?\s?smooth\w*|\bwax(?:y|en)\b|\bplastic(?:ky)?\b|\bdenois\w*|\bnoise reduction|\bupscal\w*|\bupsampl\w*|\bsmooth\w* (?:texture|detail|skin)|过度平滑|涂抹|磨皮|降噪过度|放大失真/gi,
  },
  shake: {
    types: ['cameraShake'],
    words: /\b(?:camera|hand) ?-?shak\w*|\bshak(?:y|en)\b|\bghosting\b|手抖|抖动/gi,
  },
  saturation: {
    types: ['oversaturation'],
    words:
      /\bover-?\s?saturat\w*|\bgaudy\b|\bgarish\b|\btoo (?:vivid|saturated|colou?rful)|\bexcessive saturation|过饱和|过于鲜艳|饱和度(?:过高|太高|偏高)/gi,
  },
  tint: {
    types: ['whiteBalance'],
    words: /\bwhite balance|\btoo (?:warm|cool|cold|yellow|blue|green)\b|白平衡|偏(?:黄|蓝|绿|红|暖|冷)/gi,
  },
  fringes: {
    types: ['chromaticAberration', 'colorDisplacement', 'colorDiffusion', 'demosaicing'],
    words:
      /\bfring\w*|\bchromatic aberration|\bcolou?rs? (?:bleed\w*|spill\w*|diffus\w*|displac\w*|mis\w*)|\bmoir[eé]|\bfalse colou?rs?|\bdemosaic\w*|\bzipper|紫边|彩边|色散|色差|渗色|串色|摩尔纹|伪色|色彩错位/gi,
  },
  exposure: {
    types: ['misexposure', 'brightening', 'darkening', 'meanShift'],
    words:
      /\b(?:mis-?|wrong |incorrect |faulty )expos\w*|\bbrightness\b|\bbrighten\w*|\bdarken\w*|曝光(?:错误|异常|失准)|亮度/gi,
  },
  'harsh-contrast': {
    types: ['contrastChange'],
    words:
      /\b(?:high|harsh|excessive|strong|unnatural|altered|exaggerated) contrast|\bcontrast (?:change|is (?:too high|unnatural|harsh))|对比度(?:过高|太高|偏高|异常)/gi,
  },
  disorder: {
    types: ['jitter', 'patchDisplacement', 'colorBlocks'],
    words:
      /\bjitter\w*|\bfrayed\b|\bscrambl\w*|\bdisplac\w*|\bmisplac\w*|\bpatch\w*|\b(?:colou?red|solid) (?:squares?|blocks?)|错位|色块|方块|像素抖动/gi,
  },
};

const DENIED =
  /\b(?:no|not|without|free of|free from|never|nor)\s+(?:[\w-]+,?\s+){0,3}$|(?:没有|未见|无)[^，。；]{0,6}$/i;
const REACH = 40;

/** The families of a distortion type, one at least. */
export const familiesOf = (type: SynthesizedDistortion): string[] =>
  Object.keys(FAMILIES).filter((name) => FAMILIES[name]?.types.includes(type));

function mentions(text: string, words: RegExp): boolean {
  for (const match of text.matchAll(words)) {
    if (!DENIED.test(text.slice(Math.max(0, match.index - REACH), match.index))) return true;
  }
  return false;
}

/** Whether a text speaks of any of the families without denying it. */
export const mentionsAnyFamily = (text: string, families: readonly string[]): boolean =>
  families.some((name) => {
    const words = FAMILIES[name]?.words;
    return words !== undefined && mentions(text, words);
  });
