import { z } from 'zod';
import { levelOfScore, type ParsedAnswer, parseAnswer, QUALITY_LEVELS } from '../core/index.ts';
import { type DistortionType, distortionsNamed, levelStated, NEAREST_TRAINING_TYPE } from '../data/index.ts';
import type { TeachingRecord, TruthDistortion } from './teacher.ts';

/**
 * Which teacher answers are good enough to learn from. The published abstract says only that high-quality data
 * were distilled; the rules are a reconstruction, each with its own switch.
 */
export const FILTER_REASONS = [
  'format',
  'score-distance',
  'level-not-stated',
  'level-disagrees',
  'leaked-score',
  'repetition',
  'distortion-not-present',
  'distortion-missed',
  'severity-off',
] as const;
export type FilterReason = (typeof FILTER_REASONS)[number];

export const filterConfigSchema = z.strictObject({
  maxScoreDistance: z
    .number()
    .positive()
    .nullable()
    .default(1)
    .describe('largest |score - MOS|, points; null switches the rule off'),
  maxLevelDistance: z
    .int()
    .min(0)
    .max(4)
    .nullable()
    .default(1)
    .describe('largest distance between the level stated and the level of the score: 0 exact, 1 neighbours'),
  leak: z.boolean().default(true).describe('refuse reasoning that shows that a score was given'),
  maxRepeatedShare: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .default(0.1)
    .describe('largest share of four-word runs of the reasoning that occurred before in it'),
  distortions: z.boolean().default(true).describe('compare with the distortions applied, where known'),
  maxSeverityDistance: z.int().min(0).max(4).default(2).describe('largest error of a named severity'),
  mustNameFrom: z
    .int()
    .min(1)
    .max(6)
    .default(2)
    .describe('severity from which the strongest distortion must be named; 6 means never'),
});
export type FilterConfig = z.infer<typeof filterConfigSchema>;

export interface Rejection {
  reason: FilterReason;
  /** What was found, for a person to read. */
  detail: string;
}

/** The share of four-word runs that occurred before in the text, 0 for fewer than four words. */
export function repeatedShare(text: string): number {
  const words = text.toLowerCase().match(/\p{L}+|\d+/gu) ?? [];
  const total = words.length - 3;
  if (total <= 0) return 0;
  const distinct = new Set(Array.from({ length: total }, (_, i) => words.slice(i, i + 4).join(' ')));
  return (total - distinct.size) / total;
}

const LEAK_WORDS =
  /\b(?:given|provided|reference|known|true) (?:score|rating|mos|label)\b|\bmos\b|\bmean opinion\b|\bground truth\b/i;

/** What betrays in a reasoning that a score was given: a telling phrase, or the MOS as a number. */
function leakIn(reasoning: string, mos: number): string | undefined {
  const phrase = LEAK_WORDS.exec(reasoning)?.[0];
  if (phrase !== undefined) return `says "${phrase}"`;
  const numbers = reasoning.match(/\d+\.\d+/g) ?? [];
  const hit = numbers.find((number) => {
    const decimals = Math.min(12, number.length - number.indexOf('.') - 1);
    return Math.abs(Number(number) - mos) <= 0.5 * 10 ** -decimals + 1e-9;
  });
  return hit === undefined ? undefined : `quotes the MOS as ${hit}`;
}

/** Same type, or the type that an unseen one is usually taken for. */
const resembles = (named: DistortionType, present: DistortionType): boolean =>
  named === present || named === NEAREST_TRAINING_TYPE[present];

function distortionProblems(
  reasoning: string,
  truth: readonly TruthDistortion[],
  config: FilterConfig,
): Rejection[] {
  const problems: Rejection[] = [];
  const named = distortionsNamed(reasoning);
  for (const { type, level } of named) {
    const present = truth.find((candidate) => resembles(type, candidate.type));
    if (present === undefined) {
      problems.push({ reason: 'distortion-not-present', detail: `names ${type}` });
    } else if (level !== undefined && Math.abs(level - present.level) > config.maxSeverityDistance) {
      const detail = `${type} of severity ${present.level} is called ${level}`;
      problems.push({ reason: 'severity-off', detail });
    }
  }
  const strongest = truth.reduce<TruthDistortion | undefined>(
    (best, candidate) => (best === undefined || candidate.level > best.level ? candidate : best),
    undefined,
  );
  if (
    strongest !== undefined &&
    strongest.level >= config.mustNameFrom &&
    !named.some(({ type }) => resembles(type, strongest.type))
  ) {
    problems.push({ reason: 'distortion-missed', detail: `does not name ${strongest.type}` });
  }
  return problems;
}

function judgementProblems(parsed: ParsedAnswer, mos: number, config: FilterConfig): Rejection[] {
  const problems: Rejection[] = [];
  if (parsed.status !== 'ok' || parsed.score === undefined) return problems;
  const distance = Math.abs(parsed.score - mos);
  // The small term keeps a distance of exactly the limit inside it in spite of binary rounding.
  if (config.maxScoreDistance !== null && distance > config.maxScoreDistance + 1e-9) {
    problems.push({
      reason: 'score-distance',
      detail: `score ${parsed.score} is ${distance.toFixed(2)} from the MOS`,
    });
  }
  if (config.maxLevelDistance !== null && parsed.reasoning !== undefined) {
    const stated = levelStated(parsed.reasoning);
    const expected = levelOfScore(parsed.score);
    if (stated === undefined) {
      problems.push({ reason: 'level-not-stated', detail: 'no quality level, or several' });
    } else if (
      Math.abs(QUALITY_LEVELS.indexOf(stated) - QUALITY_LEVELS.indexOf(expected)) > config.maxLevelDistance
    ) {
      problems.push({
        reason: 'level-disagrees',
        detail: `states ${stated}, the score ${parsed.score} is ${expected}`,
      });
    }
  }
  return problems;
}

/** Every reason to refuse an answer; empty means accepted. Pure: neither text nor record is changed. */
export function filterAnswer(
  text: string,
  record: Pick<TeachingRecord, 'mos' | 'distortions'>,
  config: FilterConfig,
): Rejection[] {
  const parsed = parseAnswer(text);
  const problems: Rejection[] = [];
  if (!parsed.wellFormed) problems.push({ reason: 'format', detail: parsed.problem ?? 'not the contract' });
  problems.push(...judgementProblems(parsed, record.mos, config));
  const { reasoning } = parsed;
  if (reasoning === undefined) return problems;
  const leak = config.leak ? leakIn(reasoning, record.mos) : undefined;
  if (leak !== undefined) problems.push({ reason: 'leaked-score', detail: leak });
  const repeated = repeatedShare(reasoning);
  if (config.maxRepeatedShare !== null && repeated > config.maxRepeatedShare) {
    problems.push({ reason: 'repetition', detail: `${Math.round(100 * repeated)} % is repeated` });
  }
  if (config.distortions && record.distortions !== undefined) {
    problems.push(...distortionProblems(reasoning, record.distortions, config));
  }
  return problems;
}

export interface FilterSummary {
  total: number;
  accepted: number;
  rejected: number;
  /** Answers that each reason applied to; an answer with two reasons counts under both. */
  byReason: Record<FilterReason, number>;
}

export function summarizeFilters(verdicts: readonly (readonly Rejection[])[]): FilterSummary {
  const byReason = Object.fromEntries(FILTER_REASONS.map((reason) => [reason, 0])) as Record<
    FilterReason,
    number
  >;
  for (const verdict of verdicts) {
    for (const reason of new Set(verdict.map((rejection) => rejection.reason))) byReason[reason]++;
  }
  const accepted = verdicts.filter((verdict) => verdict.length === 0).length;
  return { total: verdicts.length, accepted, rejected: verdicts.length - accepted, byReason };
}
