import { parseAnswer } from '../core/index.ts';
import { type FilterConfig, resolveFilters } from './filter-config.ts';
import { filterAnswer, type Rejection } from './filters.ts';
import type { AnswerStore } from './journal.ts';
import { NearDuplicates } from './near-duplicates.ts';
import type { Teacher, TeacherAnswer, TeachingRecord } from './teacher.ts';

/** A place for one answer: the image, and which of its answers. Its attempts are the samples first, first + step, ... */
export interface Slot {
  record: TeachingRecord;
  first: number;
  step: number;
}

export interface Verdict {
  slot: Slot;
  sample: number;
  answer: TeacherAnswer;
  rejections: Rejection[];
}

/** The rules for one answer by itself, as its teacher and its prompt have them. */
export function rejectionsOf(
  { record }: Pick<Slot, 'record'>,
  sample: number,
  answer: TeacherAnswer,
  teacher: Teacher,
  config: FilterConfig,
): Rejection[] {
  if (answer.withoutText === 'refused') return [{ reason: 'refusal', detail: 'the server says so' }];
  if (answer.withoutText === 'empty') return [{ reason: 'format', detail: 'the reply had no text' }];
  const language = teacher.asked?.(sample).language ?? null;
  const rules = resolveFilters(config, { freely: teacher.freely ?? false, language });
  return filterAnswer(answer.text.trim(), record, rules, answer.finishReason);
}

/**
 * Judges slots in order by the answers that are there, of the first `attempts` attempts: the first accepted one
 * counts, otherwise the last. Undefined for a slot without an answer. Depends on answers and order alone, never on
 * the order in which the answers came.
 */
export function judgeSlots(
  slots: readonly Slot[],
  store: AnswerStore,
  teacher: Teacher,
  config: FilterConfig,
  attempts = Number.POSITIVE_INFINITY,
): (Verdict | undefined)[] {
  const { maxSimilarity } = resolveFilters(config, { freely: teacher.freely ?? false, language: null });
  const kept = maxSimilarity === null ? undefined : new NearDuplicates(maxSimilarity);
  return slots.map((slot) => {
    let last: Verdict | undefined;
    for (let attempt = 0; attempt < attempts; attempt++) {
      const sample = slot.first + attempt * slot.step;
      const answer = store.get(slot.record.id, sample);
      if (answer === undefined) break;
      const rejections = rejectionsOf(slot, sample, answer, teacher, config);
      if (rejections.length === 0 && kept !== undefined) {
        const like = kept.add(slot.record.id, parseAnswer(answer.text.trim()).reasoning ?? '');
        if (like !== undefined) {
          const detail = `${Math.round(100 * like.similarity)} % like the text about ${like.name}`;
          rejections.push({ reason: 'near-duplicate', detail });
        }
      }
      last = { slot, sample, answer, rejections };
      if (rejections.length === 0) break;
    }
    return last;
  });
}
