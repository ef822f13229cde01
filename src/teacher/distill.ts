import { InputError, type Progress, silentProgress, writeFileAtomic, writeJsonl } from '../core/index.ts';
import { type Prompt, renderPrompt } from '../data/index.ts';
import {
  type FilterConfig,
  type FilterSummary,
  filterAnswer,
  type Rejection,
  summarizeFilters,
} from './filters.ts';
import { type ColdStartRow, coldStartRow, levelFitsScore } from './rows.ts';
import type { Teacher, TeacherAnswer, TeachingRecord } from './teacher.ts';

export interface DistillOptions {
  prompt: Prompt;
  /** What goes into the prompt's `reference` slot, if it has one. Default: nothing. */
  reference?: (record: TeachingRecord) => string;
  /** Requests in flight. Rows keep the order of the records whatever it is. Default 1. */
  concurrency?: number;
  /** Answers asked for about each record. Default 1. */
  answersPerImage?: number;
  /** Share of records without an answer (the teacher threw) above which the distillation fails. Default 0.05. */
  maxFailureShare?: number;
  /** Files to write; nothing is written without. */
  output?: { accepted: string; rejected: string; report: string };
  progress?: Progress;
}

export interface DistillReport extends FilterSummary {
  teacher: { name: string; version: string; seed: number | string | null };
  prompt: { id: string; version: number; hash: string };
  filters: FilterConfig;
  records: number;
  /** Answers asked for: `records` times the answers per image. */
  asked: number;
  /** Records that the teacher gave no answer to, with why. They have no row. */
  failed: { id: string; reason: string }[];
  /** Defects that a simulated teacher built in, and how many of those answers were refused. */
  planted: Record<string, { planted: number; caught: number }>;
  /** Over accepted rows: mean |score - MOS|, and the share whose stated level is the level of the score. */
  acceptedMeanAbsoluteError: number | null;
  acceptedLevelAgreement: number | null;
}

export interface Distillation {
  rows: ColdStartRow[];
  rejected: ColdStartRow[];
  report: DistillReport;
}

type Outcome = { answer: TeacherAnswer; row: ColdStartRow; rejections: Rejection[] } | { failure: string };

const meanOf = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * Asks a teacher about each record, filters the answers and writes accepted rows, rejected rows and a report.
 * A teacher that throws on a record is counted and reported; too many such records are an InputError, raised
 * after the files are written so that nothing paid for is lost.
 */
export async function distill(
  records: readonly TeachingRecord[],
  teacher: Teacher,
  filters: FilterConfig,
  options: DistillOptions,
): Promise<Distillation> {
  const { prompt, progress = silentProgress } = options;
  const perImage = options.answersPerImage ?? 1;
  const total = records.length * perImage;
  const recordOf = (at: number): TeachingRecord => records[Math.floor(at / perImage)]!;
  const outcomes: Outcome[] = new Array(total);
  const takesReference = prompt.slots.includes('reference');
  let next = 0;
  let done = 0;

  async function teach(record: TeachingRecord, sample: number): Promise<Outcome> {
    const slots = takesReference ? { reference: options.reference?.(record) ?? '' } : {};
    const request = { record, prompt: renderPrompt(prompt, slots), sample };
    let answer: TeacherAnswer;
    try {
      answer = await teacher.answer(request);
    } catch (error) {
      return { failure: error instanceof Error ? error.message : String(error) };
    }
    const rejections = filterAnswer(answer.text.trim(), record, filters);
    return { answer, rejections, row: coldStartRow(request, answer, teacher, rejections) };
  }

  async function work(): Promise<void> {
    while (next < total) {
      const at = next++;
      outcomes[at] = await teach(recordOf(at), at % perImage);
      progress.update(++done);
    }
  }

  progress.start(`distill (${teacher.name})`, total);
  try {
    await Promise.all(Array.from({ length: Math.max(1, options.concurrency ?? 1) }, work));
  } finally {
    progress.stop();
  }

  const answered = outcomes.flatMap((outcome) => ('failure' in outcome ? [] : [outcome]));
  const rows = answered.filter(({ row }) => row.accepted).map(({ row }) => row);
  const rejected = answered.filter(({ row }) => !row.accepted).map(({ row }) => row);
  const failed = outcomes.flatMap((outcome, i) =>
    'failure' in outcome ? [{ id: recordOf(i).id, reason: outcome.failure }] : [],
  );
  const planted: DistillReport['planted'] = {};
  for (const { answer, row } of answered) {
    if (answer.planted === undefined) continue;
    const count = planted[answer.planted] ?? { planted: 0, caught: 0 };
    planted[answer.planted] = count;
    count.planted++;
    if (!row.accepted) count.caught++;
  }
  const report: DistillReport = {
    teacher: { name: teacher.name, version: teacher.version, seed: teacher.seed },
    prompt: { id: prompt.id, version: prompt.version, hash: prompt.hash },
    filters,
    records: records.length,
    asked: total,
    ...summarizeFilters(answered.map(({ rejections }) => rejections)),
    failed,
    planted,
    acceptedMeanAbsoluteError: meanOf(
      rows.flatMap(({ score, mos }) => (score === null ? [] : [Math.abs(score - mos)])),
    ),
    acceptedLevelAgreement: meanOf(rows.map((row) => (levelFitsScore(row) ? 1 : 0))),
  };
  if (options.output !== undefined) {
    await writeJsonl(options.output.accepted, rows);
    await writeJsonl(options.output.rejected, rejected);
    await writeFileAtomic(options.output.report, `${JSON.stringify(report, null, 2)}\n`);
  }
  const limit = options.maxFailureShare ?? 0.05;
  if (failed.length > limit * total) {
    throw new InputError(
      `the teacher ${teacher.name} gave no answer to ${failed.length} of ${total} questions, allowed is a share of ${limit}; first: ${failed[0]?.id}: ${failed[0]?.reason}`,
      { hint: 'mend the teacher or raise maxFailureShare' },
    );
  }
  return { rows, rejected, report };
}
