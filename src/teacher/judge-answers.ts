import { parseAnswer } from '../core/index.ts';
import { type FilterConfig, type Language, type ResolvedFilters, resolveFilters } from './filter-config.ts';
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

/** The filters of a distillation, each answer read once however often it is asked about. */
export interface Judge {
  /** The rules for one answer by itself, as its teacher and its prompt have them. */
  rejections(record: TeachingRecord, sample: number, answer: TeacherAnswer): readonly Rejection[];
  /** From what similarity on two accepted texts are near-duplicates; null for never. */
  readonly maxSimilarity: number | null;
}

export function createJudge(teacher: Teacher, config: FilterConfig): Judge {
  const freely = teacher.freely ?? false;
  const read = new WeakMap<TeacherAnswer, readonly Rejection[]>();
  const rulesOf = new Map<Language | null, ResolvedFilters>();
  const judged = (record: TeachingRecord, sample: number, answer: TeacherAnswer): readonly Rejection[] => {
    if (answer.withoutText === 'refused') return [{ reason: 'refusal', detail: 'the server says so' }];
    if (answer.withoutText === 'empty') return [{ reason: 'format', detail: 'the reply had no text' }];
    const language = teacher.asked?.(sample).language ?? null;
    const rules = rulesOf.get(language) ?? resolveFilters(config, { freely, language });
    rulesOf.set(language, rules);
    return filterAnswer(answer.text.trim(), record, rules, answer.finishReason);
  };
  return {
    maxSimilarity: resolveFilters(config, { freely, language: null }).maxSimilarity,
    rejections(record, sample, answer) {
      const known = read.get(answer);
      if (known !== undefined) return known;
      const found = judged(record, sample, answer);
      read.set(answer, found);
      return found;
    },
  };
}

/**
 * Judges slots in order by the answers that are there, of the first `attempts` attempts: the first accepted one
 * counts, otherwise the last. Undefined for a slot without an answer. Depends on answers and order alone, never on
 * the order in which the answers came.
 */
export function judgeSlots(
  slots: readonly Slot[],
  store: AnswerStore,
  judge: Judge,
  attempts = Number.POSITIVE_INFINITY,
): (Verdict | undefined)[] {
  const { maxSimilarity } = judge;
  const kept = maxSimilarity === null ? undefined : new NearDuplicates(maxSimilarity);
  return slots.map((slot) => {
    let last: Verdict | undefined;
    for (let attempt = 0; attempt < attempts; attempt++) {
      const sample = slot.first + attempt * slot.step;
      const answer = store.get(slot.record.id, sample);
      if (answer === undefined) break;
      const rejections = [...judge.rejections(slot.record, sample, answer)];
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
