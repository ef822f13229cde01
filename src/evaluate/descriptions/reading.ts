import { levelOfScore, QUALITY_LEVELS, type QualityLevel } from '../../core/index.ts';
import {
  type DistortionType,
  distortionsNamed,
  levelStated,
  NEAREST_TRAINING_TYPE,
  PRISTINE_WORDS,
} from '../../data/index.ts';
import type { Description } from './description.ts';
import { DISTORTION_FAMILY, deniesFreely, familiesNamed } from './free-vocabulary.ts';

/** 'lexicon': the closed vocabulary of this product's own models. 'free': anybody's English, by families of types. */
export type Vocabulary = 'lexicon' | 'free';

/** Severity 1 to 5 by type (or family), undefined where it is not stated or not known. */
export type Severities = ReadonlyMap<string, number | undefined>;

/** A description as a vocabulary reads it. */
export interface Reading {
  description: Description;
  /** Severities of the types that the text names. */
  named: Severities;
  /** Severities of the types that are there; undefined where nobody knows. */
  present: Severities | undefined;
  /** The text says that there is no distortion. */
  denies: boolean;
  /** The level that the text states, 0 (bad) to 4 (excellent). */
  stated: number | undefined;
  /** The level of the score or grade given with the text, 0 to 4. */
  given: number | undefined;
}

/** By name; of two distortions that have one name, the stronger counts. */
function severities(
  distortions: readonly { type: string; level?: number | undefined }[],
): Map<string, number | undefined> {
  const byType = new Map<string, number | undefined>();
  for (const { type, level } of distortions) {
    const before = byType.get(type);
    byType.set(type, before !== undefined && (level === undefined || before > level) ? before : level);
  }
  return byType;
}

/**
 * How a vocabulary finds names in a text, and what it calls a type. In the lexicon a type that training never
 * showed counts as its nearest relative (Gaussian blur for defocus), among the named as among the present.
 */
const VOCABULARIES: Record<
  Vocabulary,
  {
    named(text: string): readonly { type: string; level?: number | undefined }[];
    nameOf(type: DistortionType): string;
    denies(text: string): boolean;
  }
> = {
  lexicon: {
    named: (text) =>
      distortionsNamed(text).map(({ type, level }) => ({ type: NEAREST_TRAINING_TYPE[type], level })),
    nameOf: (type) => NEAREST_TRAINING_TYPE[type],
    denies: (text) => PRISTINE_WORDS.phrases.some((phrase) => text.toLowerCase().includes(phrase)),
  },
  free: { named: familiesNamed, nameOf: (type) => DISTORTION_FAMILY[type], denies: deniesFreely },
};

const indexOf = (level: QualityLevel | undefined): number | undefined =>
  level === undefined ? undefined : QUALITY_LEVELS.indexOf(level);

function givenLevel({ score, grade }: Description): number | undefined {
  // A score outside the scale has no level.
  if (score !== null) return score >= 1 && score <= 5 ? indexOf(levelOfScore(score)) : undefined;
  return indexOf(grade);
}

/** Reads a text by a vocabulary. A synonym that it lacks is not seen. */
export function readDescription(description: Description, vocabulary: Vocabulary = 'lexicon'): Reading {
  const text = description.text ?? '';
  const { named, nameOf, denies } = VOCABULARIES[vocabulary];
  return {
    description,
    named: severities(named(text)),
    present:
      description.distortions === undefined
        ? undefined
        : severities(description.distortions.map(({ type, level }) => ({ type: nameOf(type), level }))),
    denies: denies(text),
    stated: indexOf(levelStated(text)),
    given: givenLevel(description),
  };
}
