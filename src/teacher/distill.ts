import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  InputError,
  makeFolder,
  type Progress,
  QPonderError,
  RemoteError,
  silentProgress,
  writeFileAtomic,
  writeJsonl,
} from '../core/index.ts';
import { type Prompt, type RenderedPrompt, renderPrompt } from '../data/index.ts';
import { takeRunLock } from '../formats/index.ts';
import { askAll, type Question } from './ask-all.ts';
import { claimFolder, distillIdentity } from './distill-identity.ts';
import { type DistillReport, type FailedQuestion, reportOf } from './distill-report.ts';
import type { FilterConfig } from './filter-config.ts';
import { type AnswerStore, answersInMemory, openJournal } from './journal.ts';
import { createJudge, type Judge, judgeSlots, type Slot, type Verdict } from './judge-answers.ts';
import { type ColdStartRow, coldStartRow } from './rows.ts';
import { type Selection, selectRows } from './select.ts';
import type { Teacher, TeachingRecord } from './teacher.ts';

export interface DistillOptions {
  prompt: Prompt;
  /** What goes into the `reference` slot of `prompt`, if it has one. Default: nothing. */
  reference?: (record: TeachingRecord) => string;
  /** Questions in flight. Rows keep the order of the records whatever it is. Default 1. */
  concurrency?: number;
  /** Answers asked for about each record, where the teacher does not say. Default 1. */
  answersPerImage?: number;
  /** Further answers asked for, at most, in place of a rejected one. Default 0. */
  retryRejected?: number;
  /** Which of the accepted answers about an image are kept. Default: all. */
  selection?: Selection;
  /** Share of questions without an answer (the teacher threw) above which the distillation fails. Default 0.05. */
  maxFailureShare?: number;
  /** Files to write; nothing is written without. */
  output?: { accepted: string; rejected: string; report: string; unselected?: string };
  /** After `output` is written and before too many failures are thrown: for files that go with it. */
  onWritten?: (made: Distillation) => Promise<void>;
  /** Folder for the journal of answers: asks nothing that is in it, and can be continued. Default: memory alone. */
  journal?: string;
  progress?: Progress;
  signal?: AbortSignal;
}

export interface Distillation {
  rows: ColdStartRow[];
  rejected: ColdStartRow[];
  /** Accepted, and not chosen. */
  unselected: ColdStartRow[];
  report: DistillReport;
  /** What ended the asking before its time, after everything that was there had been written. */
  stoppedBy: RemoteError | undefined;
}

/** The places for answers: image by image, in the order of the records. */
export const slotsOf = (
  records: readonly TeachingRecord[],
  teacher: Teacher,
  answersPerImage: number,
): Slot[] =>
  records.flatMap((record) => {
    const step = teacher.answersFor?.(record) ?? answersPerImage;
    return Array.from({ length: step }, (_, first) => ({ record, first, step }));
  });

/**
 * Asks a teacher about each record, filters the answers, chooses among them and writes accepted rows, rejected rows
 * and a report. A question that the teacher gave no answer to is counted and reported; too many of them are an
 * error, raised after the files are written so that nothing paid for is lost. With a journal the same call after a
 * crash at any moment asks only what has no answer yet.
 */
export async function distill(
  records: readonly TeachingRecord[],
  teacher: Teacher,
  filters: FilterConfig,
  options: DistillOptions,
): Promise<Distillation> {
  if (options.journal === undefined) {
    return distillInto(answersInMemory(), records, teacher, filters, options);
  }
  await makeFolder(options.journal);
  const unlock = await takeRunLock(join(options.journal, 'distill.lock'));
  try {
    await claimFolder(options.journal, distillIdentity(teacher, records));
    const store = await openJournal(options.journal);
    try {
      return await distillInto(store, records, teacher, filters, options);
    } finally {
      await store.close();
    }
  } finally {
    await unlock();
  }
}

async function distillInto(
  store: AnswerStore,
  records: readonly TeachingRecord[],
  teacher: Teacher,
  filters: FilterConfig,
  options: DistillOptions,
): Promise<Distillation> {
  const { prompt, selection = { keep: 'all', perImage: 1 } } = options;
  const rendered = promptRenderer(prompt, options.reference);
  const slots = slotsOf(records, teacher, options.answersPerImage ?? 1);
  const failed: FailedQuestion[] = [];
  const judge = createJudge(teacher, filters);
  const stoppedBy = await askInWaves(slots, store, teacher, judge, options, rendered, failed);

  const verdicts = judgeSlots(slots, store, judge);
  const answered = verdicts.filter((verdict) => verdict !== undefined);
  const rowOf = ({ slot: { record }, sample, answer, rejections }: Verdict): ColdStartRow =>
    coldStartRow({ record, prompt: rendered(record), sample }, answer, teacher, rejections);
  const all = answered.map(rowOf);
  const { selected, others } = selectRows(
    all.filter((row) => row.accepted),
    selection,
  );
  const rejected = all.filter((row) => !row.accepted);
  const report = reportOf({
    records,
    teacher,
    prompt,
    filters,
    slots,
    answered,
    failed,
    rows: selected,
    selection,
    unselected: others.length,
    store,
  });
  const { output } = options;
  if (output !== undefined) {
    await writeJsonl(output.accepted, selected);
    await writeJsonl(output.rejected, rejected);
    if (output.unselected !== undefined) {
      // Of an earlier run with another selection there must be nothing left.
      if (selection.keep === 'all') await rm(output.unselected, { force: true });
      else await writeJsonl(output.unselected, others);
    }
    await writeFileAtomic(output.report, `${JSON.stringify(report, null, 2)}\n`);
  }
  const made: Distillation = { rows: selected, rejected, unselected: others, report, stoppedBy };
  await options.onWritten?.(made);
  if (stoppedBy === undefined) {
    requireAnswers(teacher, failed, slots.length, options.maxFailureShare ?? 0.05);
  }
  return made;
}

/** Most prompts are the same for every record: those are rendered once. */
function promptRenderer(
  prompt: Prompt,
  reference: DistillOptions['reference'],
): (record: TeachingRecord) => RenderedPrompt {
  if (prompt.slots.includes('reference')) {
    return (record) => renderPrompt(prompt, { reference: reference?.(record) ?? '' });
  }
  const rendered = renderPrompt(prompt);
  return () => rendered;
}

/** First every slot once, then, attempt by attempt, those whose answers so far are all rejected. */
async function askInWaves(
  slots: readonly Slot[],
  store: AnswerStore,
  teacher: Teacher,
  judge: Judge,
  options: DistillOptions,
  rendered: (record: TeachingRecord) => RenderedPrompt,
  failed: FailedQuestion[],
): Promise<RemoteError | undefined> {
  const { progress = silentProgress } = options;
  for (let attempt = 0; attempt <= (options.retryRejected ?? 0); attempt++) {
    const due =
      attempt === 0
        ? slots
        : judgeSlots(slots, store, judge, attempt).flatMap((verdict) =>
            verdict !== undefined && verdict.rejections.length > 0 ? [verdict.slot] : [],
          );
    const questions = due.flatMap(({ record, first, step }): Question[] => {
      const sample = first + attempt * step;
      return store.get(record.id, sample) === undefined ? [{ record, prompt: rendered(record), sample }] : [];
    });
    if (attempt > 0 && due.length === 0) return undefined;
    let done = due.length - questions.length;
    let judged = 0;
    let accepted = 0;
    progress.start(`${attempt === 0 ? 'distill' : 'ask again'} (${teacher.name})`, due.length);
    progress.update(done);
    try {
      const show = (): void =>
        progress.update(
          ++done,
          judged === 0 ? {} : { accepted: `${Math.round((100 * accepted) / judged)} %` },
        );
      const stoppedBy = await askAll(questions, teacher, store, {
        concurrency: options.concurrency ?? 1,
        signal: options.signal,
        onAnswer: ({ record, sample }, answer) => {
          judged++;
          if (judge.rejections(record, sample, answer).length === 0) accepted++;
          show();
        },
        onFailure: ({ record, sample }, reason, error) => {
          const kind = error instanceof RemoteError ? error.reason : null;
          const hint = error instanceof QPonderError ? (error.hint ?? null) : null;
          failed.push({ id: record.id, sample, reason, kind, hint });
          show();
        },
      });
      if (stoppedBy !== undefined) return stoppedBy;
    } finally {
      progress.stop();
    }
  }
  return undefined;
}

function requireAnswers(
  teacher: Teacher,
  failed: readonly FailedQuestion[],
  total: number,
  limit: number,
): void {
  const [first] = failed;
  if (first === undefined || failed.length <= limit * total) return;
  const message = `the teacher ${teacher.name} gave no answer to ${failed.length} of ${total} questions, allowed is a share of ${limit}; first: ${first.id}: ${first.reason}`;
  if (first.kind !== null) {
    throw new RemoteError(message, {
      reason: first.kind,
      hint: 'the same command asks only these again; the answers that came are kept',
    });
  }
  throw new InputError(message, {
    hint: `${first.hint ?? 'mend the cause'}; or raise maxFailureShare to go on without these`,
  });
}
