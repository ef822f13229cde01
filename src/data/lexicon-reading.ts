import { QUALITY_LEVELS, type QualityLevel } from '../core/index.ts';
import {
  SEVERITY_LEVELS,
  type SeverityLevel,
  SYNTHESIZED_DISTORTIONS,
  type SynthesizedDistortion,
} from './distortion-types.ts';
import { DISTORTION_WORDS, SEVERITY_WORDS } from './lexicon.ts';

/** Reads captions and reasoning back: which distortions are named, how strong, and which level is stated. */

export interface NamedDistortion {
  type: SynthesizedDistortion;
  /** Absent when no severity word stands by the name. */
  level?: SeverityLevel;
}

const NEGATIONS = new Set(['no', 'not', 'never', 'without', 'neither', 'nor', 't']);
const STOPS = new Set(['.', ',', ';', ':', '!', '?']);
/** How far before a name its severity may stand, in words: "moderate amount of soft blur". */
const SEVERITY_REACH = 3;
/** How far before a level its subject may stand, in words: "quality of this image is rather poor". */
const SUBJECT_REACH = 8;
const SUBJECTS = new Set(['quality', 'level', 'rating', 'grade']);

/** The one name with digits. As a word of its own it is not taken for JPEG. */
const JPEG_2000 = /jpe?g[ -]?2000|jp2k/g;

const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .replaceAll(JPEG_2000, 'jpeg2000')
    .match(/jpeg2000|[a-z]+|[.,;:!?]/g) ?? [];

interface Phrase {
  type: SynthesizedDistortion;
  words: readonly string[];
}

/** Phrases by their first word, longer ones first. */
const PHRASES = new Map<string, Phrase[]>();
for (const type of SYNTHESIZED_DISTORTIONS) {
  for (const phrase of [...DISTORTION_WORDS[type].phrases, ...DISTORTION_WORDS[type].aliases]) {
    const words = phrase.split(' ');
    const first = words[0] as string;
    const list = [...(PHRASES.get(first) ?? []), { type, words }];
    PHRASES.set(
      first,
      list.sort((a, b) => b.words.length - a.words.length),
    );
  }
}

const LEVEL_OF_WORD = new Map(SEVERITY_LEVELS.map((level) => [SEVERITY_WORDS[level], level]));

/** The words before `at`, nearest first, up to a punctuation mark and at most `reach`. */
function wordsBefore(words: readonly string[], at: number, reach: number, stops = STOPS): string[] {
  const before: string[] = [];
  for (let i = at - 1; i >= 0 && before.length < reach; i--) {
    const word = words[i] as string;
    if (stops.has(word)) break;
    before.push(word);
  }
  return before;
}

/**
 * The distortions a text names, in order of first mention, each once, by the phrases of the lexicon. A name
 * denied by a word such as "no" or "without" just before it (or before its severity) does not count. If only a
 * later mention carries a severity, that severity counts.
 */
export function distortionsNamed(text: string): NamedDistortion[] {
  const words = wordsOf(text);
  const found = new Map<SynthesizedDistortion, NamedDistortion>();
  for (let at = 0; at < words.length; ) {
    const phrase = PHRASES.get(words[at] as string)?.find((candidate) =>
      candidate.words.every((word, i) => words[at + i] === word),
    );
    if (phrase === undefined) {
      at++;
      continue;
    }
    const before = wordsBefore(words, at, SEVERITY_REACH);
    const and = before.indexOf('and');
    const near = and < 0 ? before : before.slice(0, and);
    if (!near.some((word) => NEGATIONS.has(word))) {
      const level = near.map((word) => LEVEL_OF_WORD.get(word)).find((value) => value !== undefined);
      const known = found.get(phrase.type);
      if (known === undefined) {
        found.set(phrase.type, level === undefined ? { type: phrase.type } : { type: phrase.type, level });
      } else if (known.level === undefined && level !== undefined) {
        known.level = level;
      }
    }
    at += phrase.words.length;
  }
  return [...found.values()];
}

const isLevel = (word: string): word is QualityLevel => (QUALITY_LEVELS as readonly string[]).includes(word);

/** The level if all mentions are one level, else undefined. */
function agreed(levels: readonly QualityLevel[]): QualityLevel | undefined {
  return levels.every((level) => level === levels[0]) ? levels[0] : undefined;
}

/**
 * The quality level a text states, or undefined when it states none or several: never a guess. A judgement ("the
 * quality is poor", "poor quality") outranks a level word in passing; the last sentence with a judgement counts.
 * Negated words ("not good") do not count.
 */
export function levelStated(text: string): QualityLevel | undefined {
  const mentions: QualityLevel[] = [];
  let judgement: QualityLevel[] | undefined;
  for (const sentence of text.split(/[.!?]+(?:\s|$)/)) {
    const words = wordsOf(sentence);
    const judged: QualityLevel[] = [];
    words.forEach((word, at) => {
      if (!isLevel(word) || wordsBefore(words, at, 2).some((before) => NEGATIONS.has(before))) return;
      mentions.push(word);
      const before = wordsBefore(words, at, SUBJECT_REACH, new Set());
      if (before.some((other) => SUBJECTS.has(other)) || words[at + 1] === 'quality') judged.push(word);
    });
    if (judged.length > 0) judgement = judged;
  }
  return agreed(judgement ?? mentions);
}
