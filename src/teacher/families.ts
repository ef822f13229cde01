/**
 * Anybody's words for distortions, in families that a viewer cannot confuse with each other. The lexicon reads our
 * own fixed names; a model's free text says "blurry" or "grainy", and knows no difference between two noises.
 */
interface Family {
  /** The distortion types that belong to it. */
  types: readonly string[];
  words: RegExp;
}

export const FAMILIES: Readonly<Record<string, Family>> = {
  blur: {
    types: ['gaussianBlur', 'motionBlur', 'defocusBlur'],
    words:
      /\bblur\w*|\bout[- ]of[- ]focus|\bunsharp|\bsmear\w*|\bsoft(?:ness)? (?:edges|focus|details?)|\black\w* (?:of )?(?:sharpness|clarity|focus)|模糊|失焦|虚焦|拖影|不清晰|不够清晰/gi,
  },
  noise: {
    types: ['gaussianNoise', 'impulseNoise', 'speckleNoise'],
    words: /\bnois[ey]\b|\bgrain(?:y|iness)?\b|\bspeckle\w*|\bspecks\b|噪声|噪点|颗粒/gi,
  },
  blocks: {
    types: ['jpeg', 'pixelation'],
    words:
      /\bjpe?g\b|\bcompress\w*|\bblock(?:ing|y|iness|s)\b|\bpixelat\w*|\blow[- ]resolution|\bjagged|\bartifacts|\bartefacts|压缩|块效应|块状|马赛克|像素化|分辨率(?:低|不足|较低)/gi,
  },
  banding: {
    types: ['banding'],
    words: /\bbanding\b|\bbands\b|\bposteri[sz]\w*|\bquanti[sz]ation|色带|断层/gi,
  },
  bright: {
    types: ['overexposure'],
    words:
      /\bover-?\s?expos\w*|\bblown\b|\bclipped\b|\btoo bright|\boverly bright|\bwashed[- ]out|过曝|过亮|高光溢出|曝光过度/gi,
  },
  dark: {
    types: ['underexposure'],
    words: /\bunder-?\s?expos\w*|\btoo dark|\boverly dark|\bdarkness\b|\bdim\b|欠曝|过暗|偏暗|曝光不足/gi,
  },
  contrast: {
    types: ['lowContrast', 'haze'],
    words:
      /\b(?:low|poor|weak|reduced) contrast|\black\w* (?:of )?contrast|\bhaz[ey]\b|\bfog\w*|\bwashed[- ]out|\bflat tones|对比度(?:低|不足|较低|偏低)|灰平|灰蒙|雾/gi,
  },
  color: {
    types: ['colorShift', 'desaturation'],
    words:
      /\bcolou?r (?:cast|shift)|\btint\w*|\bunnatural (?:colou?rs?|hues?)|\bdesaturat\w*|\bfaded\b|\b(?:dull|pale|muted) colou?rs?|偏色|色偏|饱和度(?:低|不足|较低|偏低)|褪色/gi,
  },
  halos: {
    types: ['oversharpening'],
    words: /\bover-?\s?sharpen\w*|\bhalos?\b|\bringing\b|过度锐化|光晕|振铃/gi,
  },
};

const DENIED =
  /\b(?:no|not|without|free of|free from|never|nor)\s+(?:[\w-]+,?\s+){0,3}$|(?:没有|未见|无)[^，。；]{0,6}$/i;
const REACH = 40;

/** The family of a distortion type; a type without one is a family of its own. */
export const familyOf = (type: string): string =>
  Object.keys(FAMILIES).find((name) => FAMILIES[name]?.types.includes(type)) ?? type;

/** Whether a text speaks of a family without denying it; undefined for a family whose words nobody listed. */
export function mentionsFamily(text: string, family: string): boolean | undefined {
  const words = FAMILIES[family]?.words;
  if (words === undefined) return undefined;
  for (const match of text.matchAll(words)) {
    if (!DENIED.test(text.slice(Math.max(0, match.index - REACH), match.index))) return true;
  }
  return false;
}
