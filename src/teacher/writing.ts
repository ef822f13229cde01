import type { QualityLevel, Rng } from '../core/index.ts';
import {
  CONCLUSIONS,
  CONTENT_PHRASES,
  DISTORTION_WORDS,
  PRISTINE_WORDS,
  SEVERITY_WORDS,
} from '../data/index.ts';
import type { ImageFacts, TruthDistortion } from './teacher.ts';

/**
 * Composes expert-style reasoning from known facts: content, distortions with severity, effect, conclusion,
 * level. The content and distortions come first and the level last, just before the score, so that a model
 * that writes the text commits to what it sees before it judges.
 */

const OPENINGS = ['the image shows', 'this is', 'we see'] as const;
const JUDGEMENTS = [
  'so the overall quality is',
  'so i judge the quality as',
  'so the quality level is',
] as const;

export interface ReasoningParts {
  opening: string;
  distortions: string;
  effect: string;
  conclusion: string;
  judgement: string;
}

const isContentKind = (kind: string): kind is keyof typeof CONTENT_PHRASES =>
  Object.hasOwn(CONTENT_PHRASES, kind);

/** The phrase for a record's content; "a scene" where the kind is not known. */
export const contentPhrase = (record: Pick<ImageFacts, 'contentKind'>): string =>
  record.contentKind !== undefined && isContentKind(record.contentKind)
    ? CONTENT_PHRASES[record.contentKind]
    : 'a scene';

/** Strongest first; equal and unknown levels keep their order. */
export const byStrength = (distortions: readonly TruthDistortion[]): TruthDistortion[] =>
  [...distortions].sort((a, b) => (b.level ?? 0) - (a.level ?? 0));

/** A name behind its severity, where that is known: "strong soft blur". */
export const withSeverity = (name: string, level: TruthDistortion['level']): string =>
  level === undefined ? name : `${SEVERITY_WORDS[level]} ${name}`;

/** "strong soft blur and mild white noise", or that nothing is visible. Wording varies with `rng`. */
export function distortionPhrase(distortions: readonly TruthDistortion[], rng: Rng): string {
  if (distortions.length === 0) return rng.pick(PRISTINE_WORDS.phrases);
  return byStrength(distortions)
    .map(({ type, level }) => withSeverity(rng.pick(DISTORTION_WORDS[type].phrases), level))
    .join(' and ');
}

export function judgementParts(
  level: QualityLevel,
  rng: Rng,
): Pick<ReasoningParts, 'conclusion' | 'judgement'> {
  return { conclusion: rng.pick(CONCLUSIONS[level]), judgement: `${rng.pick(JUDGEMENTS)} ${level}` };
}

/** The parts of a reasoning that names `distortions` and states `level`. */
export function reasoningParts(
  record: Pick<ImageFacts, 'contentKind'>,
  distortions: readonly TruthDistortion[],
  level: QualityLevel,
  rng: Rng,
): ReasoningParts {
  const strongest = byStrength(distortions)[0];
  return {
    opening: `${rng.pick(OPENINGS)} ${contentPhrase(record)}`,
    distortions: distortionPhrase(distortions, rng),
    effect: rng.pick(
      strongest === undefined ? PRISTINE_WORDS.effects : DISTORTION_WORDS[strongest.type].effects,
    ),
    ...judgementParts(level, rng),
  };
}

export const joinReasoning = (parts: ReasoningParts): string =>
  `${parts.opening} with ${parts.distortions}. ${parts.effect}. ${parts.conclusion}, ${parts.judgement}.`;
