import type { DistortionType } from '../../data/index.ts';

/**
 * A reading of free English about image quality. People and large models say "a bit out of focus", not "mild
 * defocus blur": their words seldom tell types apart, so families of types are read, and severities by adverbs.
 * The grouping and the words are ours; figures made with them compare with each other, not with those of the
 * closed lexicon.
 */

export type DistortionFamily =
  | 'banding'
  | 'blur'
  | 'color'
  | 'compression'
  | 'contrast'
  | 'noise'
  | 'overexposure'
  | 'oversharpening'
  | 'pixelation'
  | 'underexposure';

export const DISTORTION_FAMILY: Readonly<Record<DistortionType, DistortionFamily>> = {
  gaussianBlur: 'blur',
  motionBlur: 'blur',
  defocusBlur: 'blur',
  gaussianNoise: 'noise',
  impulseNoise: 'noise',
  speckleNoise: 'noise',
  jpeg: 'compression',
  pixelation: 'pixelation',
  overexposure: 'overexposure',
  underexposure: 'underexposure',
  lowContrast: 'contrast',
  haze: 'contrast',
  colorShift: 'color',
  desaturation: 'color',
  banding: 'banding',
  oversharpening: 'oversharpening',
};

const WORDS: Readonly<Record<DistortionFamily, RegExp>> = {
  banding: /\b(?:banding|posteri[sz](?:ation|ed)|coarse quantization)\b/g,
  blur: /\b(?:blur(?:s|red|ry|ring|riness)?|out[- ]of[- ]focus|unfocused|defocus(?:ed)?|unsharp|smear(?:ed|ing)|soft focus|lack(?:s|ing)?(?: of| in)? sharpness)\b/g,
  color:
    /\b(?:colou?r (?:casts?|shifts?)|discolou?r(?:ed|ation)|(?:de|under|over)-?saturat(?:ed|ion)|faded colou?rs?|(?:dull|unnatural) colou?rs?)\b/g,
  compression: /\b(?:compression|compressed|jpe?g artifacts?|block(?:ing|iness|y)(?: artifacts?)?)\b/g,
  contrast:
    /\b(?:(?:low|poor|insufficient) contrast|lack(?:s|ing)?(?: of| in)? contrast|washed[- ]out|haz(?:e|y)|(?:thin )?fog(?:gy)?)\b/g,
  noise: /\b(?:nois(?:e|y)|grain(?:y|iness)?|speckles?|speckled)\b/g,
  overexposure:
    /\b(?:over-?expos(?:ed|ure)|over exposure|blown(?:[- ]out| highlights?)|too bright|clipped highlights?)\b/g,
  oversharpening: /\b(?:over-?sharpen(?:ed|ing)|over sharpening|ringing(?: halos)?|(?:edge )?halos)\b/g,
  pixelation: /\b(?:pixelat(?:ed|ion)|low[- ]resolution|jagged)\b/g,
  underexposure:
    /\b(?:under-?expos(?:ed|ure)|under exposure|too (?:dark|dim)|poorly lit|deep darkness|insufficient light(?:ing)?)\b/g,
};

/** Adverbs and adjectives of strength, on the scale of the lexicon. */
const STRENGTHS: readonly [number, RegExp][] = [
  [5, /\b(?:severe(?:ly)?|extreme(?:ly)?|excessive(?:ly)?)\b/],
  [4, /\b(?:strong(?:ly)?|heav(?:y|ily)|significant(?:ly)?|very|considerabl[ey])\b/],
  [3, /\b(?:moderate(?:ly)?|noticeabl[ey]|visibl[ey])\b/],
  [2, /\b(?:mild(?:ly)?|some(?:what)?|a bit)\b/],
  [1, /\b(?:slight(?:ly)?|minor|subtl[ey]|faint(?:ly)?|a little)\b/],
];

const NEGATION = /(?:\b(?:no|not|never|without|neither|nor|free (?:of|from)|lacks?|absence of)\b|n't\b)/;

/** Words before a name, in the same clause, that may deny it or tell its strength. */
const REACH = 4;

function wordsBefore(text: string, at: number): string {
  const clause =
    text
      .slice(0, at)
      .split(/[.,;:!?]|\b(?:but|and|while|though|although)\b/)
      .at(-1) ?? '';
  return clause.trim().split(/\s+/).slice(-REACH).join(' ');
}

export interface NamedFamily {
  type: DistortionFamily;
  level?: number | undefined;
}

/** The families of distortions that a text names, each mention; one that is denied just before does not count. */
export function familiesNamed(text: string): NamedFamily[] {
  const lower = text.toLowerCase().replaceAll('’', "'");
  return (Object.keys(WORDS) as DistortionFamily[]).flatMap((type) =>
    [...lower.matchAll(WORDS[type])].flatMap((match) => {
      const before = wordsBefore(lower, match.index);
      if (NEGATION.test(before)) return [];
      return [{ type, level: STRENGTHS.find(([, words]) => words.test(before))?.[0] }];
    }),
  );
}

/** Whether a text says that there is no distortion at all. */
export const deniesFreely = (text: string): boolean =>
  /\b(?:no|without(?: any)?|free (?:of|from)(?: any)?) (?:(?:visible|noticeable|obvious|apparent|clear|significant) )?(?:distortions?|artifacts?|defects?|flaws?|degradations?)\b/i.test(
    text,
  );
