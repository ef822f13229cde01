import { ALL_DISTORTIONS, type DistortionType, type SynthesizedDistortion } from './distortion-types.ts';
import type { AppliedDistortion } from './raters.ts';
import type { ImageRecord } from './records.ts';
import { levelOfStrength } from './strength.ts';

const isInVocabulary = (type: SynthesizedDistortion): type is DistortionType =>
  (ALL_DISTORTIONS as readonly string[]).includes(type);

/**
 * The distortions of a generated image as its record states them. A record's list speaks the closed vocabulary of
 * the lexicon. An image with any other type lists none, names it in `distortion` and `level` as imported sets do,
 * and counts as imported: its distortions are not known to what reads the list.
 */
export function statedDistortions(
  applied: readonly AppliedDistortion[],
  source: ImageRecord['source'],
): Pick<ImageRecord, 'distortions' | 'source' | 'distortion' | 'level'> {
  const known = applied.flatMap(({ type, strength }) =>
    isInVocabulary(type) ? [{ type, strength, level: levelOfStrength(strength) }] : [],
  );
  if (known.length === applied.length) return { distortions: known, source };
  return {
    distortions: [],
    source: 'imported',
    distortion: applied.map(({ type }) => type).join(' + '),
    // Of several, the strongest.
    level: Math.max(...applied.map(({ strength }) => strength)),
  };
}
