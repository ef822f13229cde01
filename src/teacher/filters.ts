import { levelOfScore, type ParsedAnswer, parseAnswer, QUALITY_LEVELS } from '../core/index.ts';
import {
  FILTER_REASONS,
  type FilterConfig,
  type FilterReason,
  type ResolvedFilters,
  resolveFilters,
} from './filter-config.ts';
import { distortionProblems } from './filter-distortions.ts';
import { instructionLeakIn, scoreLeakIn } from './filter-leaks.ts';
import { statedLevel } from './stated-level.ts';
import type { TeachingRecord } from './teacher.ts';
import { languageProblem, refusalIn, repeatedShare, truncationOf, wordCount } from './text-measures.ts';

export interface Rejection {
  reason: FilterReason;
  /** What was found, for a person to read. */
  detail: string;
}

function judgementProblems(parsed: ParsedAnswer, mos: number, config: ResolvedFilters): Rejection[] {
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
    const stated = statedLevel(parsed.reasoning);
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

/** Problems of the reasoning as a text, whatever it says about quality. */
function textProblems(reasoning: string, mos: number, config: ResolvedFilters): Rejection[] {
  const problems: Rejection[] = [];
  const add = (reason: FilterReason, detail: string | undefined): void => {
    if (detail !== undefined) problems.push({ reason, detail });
  };
  if (config.leak) {
    add('leaked-score', scoreLeakIn(reasoning, mos));
    add('leaked-instruction', instructionLeakIn(reasoning));
  }
  const repeated = repeatedShare(reasoning);
  if (config.maxRepeatedShare !== null && repeated > config.maxRepeatedShare) {
    add('repetition', `${Math.round(100 * repeated)} % is repeated`);
  }
  const words = wordCount(reasoning);
  if (config.minWords !== null && words < config.minWords) {
    add('too-short', `${words} words, fewest are ${config.minWords}`);
  }
  if (config.maxWords !== null && words > config.maxWords) {
    add('too-long', `${words} words, most are ${config.maxWords}`);
  }
  if (config.language !== null) add('language', languageProblem(reasoning, config.language));
  return problems;
}

const isResolved = (config: FilterConfig | ResolvedFilters): config is ResolvedFilters =>
  !Object.values(config).includes('auto');

/**
 * Every reason to refuse an answer by itself; empty means accepted. Pure: neither text nor record is changed.
 * 'auto' in the configuration means what it means for a simulated teacher. Near-duplicates are a matter of two
 * texts: see near-duplicates.ts.
 *
 * @param finishReason what the server says about the end of the text
 */
export function filterAnswer(
  text: string,
  record: Pick<TeachingRecord, 'mos' | 'distortions'>,
  config: FilterConfig | ResolvedFilters,
  finishReason?: string,
): Rejection[] {
  const rules = isResolved(config) ? config : resolveFilters(config, { freely: false, language: null });
  const parsed = parseAnswer(text);
  const problems: Rejection[] = [];
  if (!parsed.wellFormed) problems.push({ reason: 'format', detail: parsed.problem ?? 'not the contract' });
  problems.push(...judgementProblems(parsed, record.mos, rules));
  const { reasoning } = parsed;
  const cut = rules.truncation ? truncationOf(text, reasoning, finishReason) : undefined;
  if (cut !== undefined) problems.push({ reason: 'truncated', detail: cut });
  const refused = rules.refusals ? refusalIn(text) : undefined;
  if (refused !== undefined) problems.push({ reason: 'refusal', detail: `says "${refused}"` });
  if (reasoning === undefined) return problems;
  problems.push(...textProblems(reasoning, record.mos, rules));
  if (rules.distortions && record.distortions !== undefined) {
    problems.push(...distortionProblems(reasoning, record.distortions, rules));
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
