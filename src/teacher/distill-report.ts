import type { RemoteReason } from '../core/index.ts';
import type { Prompt } from '../data/index.ts';
import type { FilterConfig } from './filter-config.ts';
import { type FilterSummary, summarizeFilters } from './filters.ts';
import type { AnswerStore } from './journal.ts';
import type { Slot, Verdict } from './judge-answers.ts';
import { type ColdStartRow, levelFitsScore } from './rows.ts';
import type { Selection } from './select.ts';
import type { Teacher, TeachingRecord } from './teacher.ts';

export interface FailedQuestion {
  id: string;
  sample: number;
  reason: string;
  /** Of a failure of a remote model, its stable name. */
  kind: RemoteReason | null;
  /** How to mend it, where the error says. */
  hint: string | null;
}

export interface DistillReport extends FilterSummary {
  teacher: { name: string; version: string; seed: number | string | null };
  prompt: { id: string; version: number; hash: string };
  filters: FilterConfig;
  records: number;
  /** Answers asked for: places for answers, each counted once however often it was asked again. */
  asked: number;
  /** Answers that an earlier run had left, and all answers there are, those to repeated questions included. */
  keptFromBefore: number;
  answers: number;
  /** Places without an answer, because the asking was stopped or failed. */
  missing: number;
  /** Questions that the teacher gave no answer to in this run, with why. They have no row. */
  failed: { id: string; reason: string }[];
  /** Defects that a simulated teacher built in, and how many of those answers were refused. */
  planted: Record<string, { planted: number; caught: number }>;
  selection: Selection & { selected: number; unselected: number };
  /** Tokens of all answers, as the server counted them, and answers of which it counted none. */
  tokens: { prompt: number; cachedPrompt: number; completion: number; uncounted: number };
  /** Over selected rows: mean |score - MOS|, and the share whose stated level is the level of the score. */
  acceptedMeanAbsoluteError: number | null;
  acceptedLevelAgreement: number | null;
}

const meanOf = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;

/** Tokens of the answers of a store. */
export function tokensOfAnswers(store: Pick<AnswerStore, 'answers'>): DistillReport['tokens'] {
  const sum = { prompt: 0, cachedPrompt: 0, completion: 0, uncounted: 0 };
  for (const { tokens } of store.answers()) {
    if (tokens === undefined) {
      sum.uncounted++;
      continue;
    }
    sum.prompt += tokens.prompt;
    sum.cachedPrompt += tokens.cachedPrompt;
    sum.completion += tokens.completion;
  }
  return sum;
}

function plantedDefects(answered: readonly Verdict[]): DistillReport['planted'] {
  const planted: DistillReport['planted'] = {};
  for (const { answer, rejections } of answered) {
    if (answer.planted === undefined) continue;
    const count = planted[answer.planted] ?? { planted: 0, caught: 0 };
    planted[answer.planted] = count;
    count.planted++;
    if (rejections.length > 0) count.caught++;
  }
  return planted;
}

export function reportOf(made: {
  records: readonly TeachingRecord[];
  teacher: Teacher;
  prompt: Prompt;
  filters: FilterConfig;
  slots: readonly Slot[];
  answered: readonly Verdict[];
  failed: readonly FailedQuestion[];
  rows: readonly ColdStartRow[];
  selection: Selection;
  unselected: number;
  store: AnswerStore;
}): DistillReport {
  const { teacher, prompt, answered, rows, store } = made;
  return {
    teacher: { name: teacher.name, version: teacher.version, seed: teacher.seed },
    prompt: { id: prompt.id, version: prompt.version, hash: prompt.hash },
    filters: made.filters,
    records: made.records.length,
    asked: made.slots.length,
    keptFromBefore: store.kept,
    answers: [...store.answers()].length,
    missing: made.slots.length - answered.length,
    ...summarizeFilters(answered.map(({ rejections }) => rejections)),
    failed: made.failed.map(({ id, reason }) => ({ id, reason })),
    planted: plantedDefects(answered),
    selection: { ...made.selection, selected: rows.length, unselected: made.unselected },
    tokens: tokensOfAnswers(store),
    acceptedMeanAbsoluteError: meanOf(
      rows.flatMap(({ score, mos }) => (score === null ? [] : [Math.abs(score - mos)])),
    ),
    acceptedLevelAgreement: meanOf(rows.map((row) => (levelFitsScore(row) ? 1 : 0))),
  };
}
