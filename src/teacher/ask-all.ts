import { RemoteError, type RemoteReason } from '../core/index.ts';
import type { RenderedPrompt } from '../data/index.ts';
import type { AnswerStore } from './journal.ts';
import type { Teacher, TeacherAnswer, TeachingRecord } from './teacher.ts';

export interface Question {
  record: TeachingRecord;
  prompt: RenderedPrompt;
  sample: number;
}

export interface AskOptions {
  /** Questions in preparation or in flight. */
  concurrency: number;
  signal?: AbortSignal | undefined;
  /** After each question that got an answer. */
  onAnswer(question: Question, answer: TeacherAnswer): void;
  onFailure(question: Question, reason: string, error: unknown): void;
}

/** What no other question will fare better with. */
const HOPELESS: readonly RemoteReason[] = ['authentication', 'not-found', 'budget'];
/** Failures in a row, without an answer, after which nobody is at the other end. */
const MOST_FAILURES_IN_A_ROW = 20;

/**
 * Asks every question and stores each answer as it comes. An error of one question is reported and the others go on;
 * one that concerns them all (a spent budget, a refused key, a wrong address, twenty failures in a row) ends the
 * asking: what is in flight is finished and kept, and that error is returned. Throws the signal's reason, and errors
 * of the store, which mean that answers could be lost.
 */
export async function askAll(
  questions: readonly Question[],
  teacher: Teacher,
  store: AnswerStore,
  { concurrency, signal, onAnswer, onFailure }: AskOptions,
): Promise<RemoteError | undefined> {
  let next = 0;
  let inARow = 0;
  let answered = false;
  let stoppedBy: RemoteError | undefined;

  function note(question: Question, error: unknown): void {
    if (error instanceof RemoteError && HOPELESS.includes(error.reason)) {
      stoppedBy ??= error;
      return;
    }
    inARow++;
    onFailure(question, error instanceof Error ? error.message : String(error), error);
    const gone = error instanceof RemoteError && error.reason === 'unreachable' && !answered;
    if (error instanceof RemoteError && (gone || inARow >= MOST_FAILURES_IN_A_ROW)) stoppedBy ??= error;
  }

  async function work(): Promise<void> {
    while (next < questions.length && stoppedBy === undefined) {
      signal?.throwIfAborted();
      const question = questions[next++]!;
      let answer: TeacherAnswer;
      try {
        answer = await teacher.answer(question);
      } catch (error) {
        signal?.throwIfAborted();
        note(question, error);
        continue;
      }
      store.add(question.record.id, question.sample, answer);
      answered = true;
      inARow = 0;
      onAnswer(question, answer);
    }
  }

  const lanes = Array.from({ length: Math.max(1, Math.min(concurrency, questions.length)) }, work);
  const ends = await Promise.allSettled(lanes);
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return stoppedBy;
}
