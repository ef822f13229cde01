import { distortionsNamed, NEAREST_TRAINING_TYPE, type SynthesizedDistortion } from '../data/index.ts';
import { familiesOf, mentionsAnyFamily } from './families.ts';
import type { ResolvedFilters } from './filter-config.ts';
import type { Rejection } from './filters.ts';
import type { TruthDistortion } from './teacher.ts';
import { byStrength } from './writing.ts';

/** Same type, or the type that an unseen one is usually taken for. */
const resembles = (named: SynthesizedDistortion, present: SynthesizedDistortion): boolean =>
  named === present || named === NEAREST_TRAINING_TYPE[present];

const sameFamily = (named: SynthesizedDistortion, present: SynthesizedDistortion): boolean =>
  familiesOf(named).some((family) => familiesOf(present).includes(family));

/** Severity from which a distortion that was not applied contradicts the truth: pictures have small faults too. */
const CONTRADICTS_FROM = 3;

/** Compares what a reasoning names with what was applied: by our own names, or by families of anybody's words. */
export function distortionProblems(
  reasoning: string,
  truth: readonly TruthDistortion[],
  { vocabulary, maxSeverityDistance, mustNameFrom }: ResolvedFilters,
): Rejection[] {
  const problems: Rejection[] = [];
  const families = vocabulary === 'families';
  const fits = families ? sameFamily : resembles;
  const named = distortionsNamed(reasoning);
  for (const { type, level } of named) {
    const present = truth.find((candidate) => fits(type, candidate.type));
    if (present === undefined) {
      if (families && level !== undefined && level < CONTRADICTS_FROM) continue;
      problems.push({ reason: 'distortion-not-present', detail: `names ${type}` });
    } else if (
      level !== undefined &&
      present.level !== undefined &&
      Math.abs(level - present.level) > maxSeverityDistance
    ) {
      const detail = `${type} of severity ${present.level} is called ${level}`;
      problems.push({ reason: 'severity-off', detail });
    }
  }
  // Of types without a severity nobody knows whether they can be seen.
  const [strongest] = byStrength(truth);
  if (
    strongest?.level !== undefined &&
    strongest.level >= mustNameFrom &&
    !named.some(({ type }) => fits(type, strongest.type)) &&
    !(families && mentionsAnyFamily(reasoning, familiesOf(strongest.type)))
  ) {
    problems.push({ reason: 'distortion-missed', detail: `does not name ${strongest.type}` });
  }
  return problems;
}
