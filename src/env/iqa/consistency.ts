import { levelOfScore, QUALITY_LEVELS } from '../../core/index.ts';
import { levelStated, type NamedDistortion, NEAREST_TRAINING_TYPE } from '../../data/index.ts';

/**
 * Consistency rewards: does the reasoning support the answer? Reconstruction: the paper says that accuracy and
 * reasoning consistency are optimised jointly, and no more.
 */

/**
 * (a) The level that the reasoning states against the level of the score: 1 if equal, else
 * max(0, 1 - distance / falloff), the distance in levels. In [0, 1]. A reasoning that states no level, or
 * several, earns 0: the rule rewards stating one, so this is its value and not a failure.
 */
export function levelConsistency(reasoning: string, score: number, falloff: number): number {
  const stated = levelStated(reasoning);
  if (stated === undefined) return 0;
  const distance = Math.abs(QUALITY_LEVELS.indexOf(stated) - QUALITY_LEVELS.indexOf(levelOfScore(score)));
  return Math.max(0, 1 - distance / falloff);
}

/**
 * (b) Blind re-scoring: the score that the reasoning alone leads to, without the image, against the answer:
 * max(0, 1 - |difference| / width). In [0, 1].
 */
export const blindConsistency = (expectedScore: number, score: number, width: number): number =>
  Math.max(0, 1 - Math.abs(expectedScore - score) / width);

export interface NamingOptions {
  /** Part of a match's credit that its severity earns, 0 to 1. */
  severityShare: number;
  /** Whether the training type nearest to an unseen type counts as naming it. */
  acceptRelatives: boolean;
}

/**
 * (c) Distortions named against a reference (the teacher's reasoning, or what was applied): F1 with severity
 * credit. A pair of equal type earns (1 - share) + share * (1 - |level difference| / 4), the second part
 * only if both state a level; F1 = 2 * credits / (number named + number in the reference). 1 if both are empty.
 */
export function distortionAgreement(
  named: readonly NamedDistortion[],
  reference: readonly NamedDistortion[],
  options: NamingOptions,
): number {
  if (named.length + reference.length === 0) return 1;
  const isRelative = (type: NamedDistortion['type'], other: NamedDistortion['type']): boolean =>
    options.acceptRelatives && NEAREST_TRAINING_TYPE[other] === type;
  const open = [...reference];
  let credits = 0;
  // Equal types are paired first, so that a relative never takes the place of the type itself.
  const byExactness = [
    ...named.filter(({ type }) => reference.some((other) => other.type === type)),
    ...named.filter(({ type }) => !reference.some((other) => other.type === type)),
  ];
  for (const { type, level } of byExactness) {
    const exact = open.findIndex((other) => other.type === type);
    const at = exact >= 0 ? exact : open.findIndex((other) => isRelative(type, other.type));
    const match = at < 0 ? undefined : open.splice(at, 1)[0];
    if (match === undefined) continue;
    const closeness =
      level === undefined || match.level === undefined ? 0 : 1 - Math.abs(level - match.level) / 4;
    credits += 1 - options.severityShare + options.severityShare * closeness;
  }
  return (2 * credits) / (named.length + reference.length);
}
