import { InputError, Rng } from '../core/index.ts';
import { DISTORTION_WORDS, PRISTINE_WORDS } from '../data/index.ts';
import type { ImageFacts } from './teacher.ts';
import { byStrength, contentPhrase, distortionPhrase, withSeverity } from './writing.ts';

export type CaptionWording = 'canonical' | 'varied';

/**
 * A caption for pre-training: content, distortions and their severity in the words of the lexicon, for example
 * "a busy scene with moderate gaussian blur." It never holds a score or a quality level, and its type has no
 * MOS to take one from. 'canonical' uses each distortion's first name, 'varied' (by seed and id) any of them.
 */
export function captionOf(
  facts: ImageFacts,
  wording: CaptionWording = 'varied',
  seed: number | string = 1,
): string {
  const { distortions } = facts;
  if (distortions === undefined) {
    throw new InputError(`captionOf: nobody knows the distortions of ${facts.id}`, {
      hint: 'captions are for generated images and distorted crops',
    });
  }
  const named =
    wording === 'varied'
      ? distortionPhrase(distortions, new Rng(seed).fork('caption', facts.id))
      : byStrength(distortions)
          .map(({ type, level }) => withSeverity(DISTORTION_WORDS[type].phrases[0], level))
          .join(' and ') || PRISTINE_WORDS.phrases[0];
  return `${contentPhrase(facts)} with ${named}.`;
}
