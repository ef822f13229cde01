import {
  DISTORTION_WORDS,
  type DistortionType,
  distortionsNamed,
  NEAREST_TRAINING_TYPE,
} from '../../data/index.ts';
import type { Prediction } from '../predictions.ts';
import { spaced } from './words.ts';

/** `right`: it is in the picture. `wrong`: it is not. `open`: nobody knows what is in the picture. */
export type Verdict = 'right' | 'wrong' | 'open';

/** A stretch of a text that names a distortion: `[from, to)` in UTF-16 units. */
export interface NamedSpan {
  from: number;
  to: number;
  type: string;
  verdict: Verdict;
}

const PUNCTUATION = /[.,;:!?]/;

const isLexical = (type: string): type is DistortionType => Object.hasOwn(DISTORTION_WORDS, type);

/** Spellings of a type: the lexicon's, or the type's own name where another vocabulary was used. */
function phrasesOf(type: string): string[] {
  if (!isLexical(type)) return [spaced(type), type];
  return [...DISTORTION_WORDS[type].phrases, ...DISTORTION_WORDS[type].aliases];
}

const escapePattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The words of a phrase with anything but letters and punctuation between them, as the lexicon reads them. */
const patternOf = (phrase: string): string =>
  phrase.toLowerCase().split(/\s+/).map(escapePattern).join('[^a-z.,;:!?]+');

/** A denied name does not count: the clause up to its end is read as the scorer reads it. */
function isClaimed(text: string, to: number, from: number, type: string): boolean {
  if (!isLexical(type)) return true;
  let start = from;
  while (start > 0 && !PUNCTUATION.test(text[start - 1]!)) start--;
  return distortionsNamed(text.slice(start, to)).some((named) => named.type === type);
}

/** By the same reading as the naming summary: the nearest trained relative of an unseen type counts as right. */
function isNamedRightly(type: string, truth: NonNullable<Prediction['distortionsTrue']>): boolean {
  const relative = (one: string): string => (NEAREST_TRAINING_TYPE as Record<string, string>)[one] ?? one;
  return truth.some((one) => relative(one.type) === relative(type));
}

/** Where a text names the distortions of a prediction, in order, without overlaps; the longer phrase wins. */
export function namedSpans(
  text: string,
  { distortionsNamed: named, distortionsTrue }: Pick<Prediction, 'distortionsNamed' | 'distortionsTrue'>,
): NamedSpan[] {
  const phrases = named
    .flatMap(({ type }) => phrasesOf(type).map((phrase) => ({ type, phrase })))
    .sort((a, b) => b.phrase.length - a.phrase.length);
  const spans: NamedSpan[] = [];
  for (const { type, phrase } of phrases) {
    const pattern = new RegExp(`(?<![a-z])${patternOf(phrase)}(?![a-z])`, 'gi');
    for (const match of text.matchAll(pattern)) {
      const [from, to] = [match.index, match.index + match[0].length];
      if (spans.some((span) => from < span.to && span.from < to) || !isClaimed(text, to, from, type))
        continue;
      const verdict =
        distortionsTrue === undefined ? 'open' : isNamedRightly(type, distortionsTrue) ? 'right' : 'wrong';
      spans.push({ from, to, type, verdict });
    }
  }
  return spans.sort((a, b) => a.from - b.from);
}
