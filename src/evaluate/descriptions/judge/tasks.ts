import { ConfigError, InputError } from '../../../core/index.ts';
import type { Description } from '../description.ts';

/** Descriptions by one model (or person). */
export interface DescriptionSet {
  name: string;
  /** The model that wrote them, where known: a judge of the same model is flagged. */
  model?: string | undefined;
  descriptions: readonly Description[];
}

export type JudgeMode = 'grade' | 'pair';

/** One question to a judge. */
export interface JudgeTask {
  /** Unique among the tasks of a judging. */
  key: string;
  /** The set graded; for a pair "first set | second set". */
  set: string;
  id: string;
  sample: number;
  /** The description, of the first set, whose picture and truth are shown. */
  about: Description;
  /** In the order shown: one to grade, or two to compare. */
  shown: readonly [Description] | readonly [Description, Description];
  /** Pairs: whether the second set's description is shown first. */
  swapped: boolean;
}

const hasText = ({ text }: Description): boolean => text !== undefined;

/** Every description with a text, `samples` times. Those without one are not asked about and get no grade. */
function gradeTasks(sets: readonly DescriptionSet[], samples: number): JudgeTask[] {
  return sets.flatMap(({ name, descriptions }) =>
    descriptions.filter(hasText).flatMap((description) =>
      Array.from({ length: samples }, (_, sample) => ({
        key: JSON.stringify([name, description.id, sample]),
        set: name,
        id: description.id,
        sample,
        about: description,
        shown: [description] as const,
        swapped: false,
      })),
    ),
  );
}

/** Every picture that both sets describe, `samples` times in both orders: position bias shows, and cancels. */
function pairTasks(sets: readonly DescriptionSet[], samples: number): JudgeTask[] {
  const [a, b] = sets;
  if (a === undefined || b === undefined || sets.length !== 2) {
    throw new ConfigError(`a comparison has ${sets.length} set(s) of descriptions, allowed are two`, {
      hint: 'give two files, or grade each alone',
    });
  }
  const second = new Map(b.descriptions.filter(hasText).map((description) => [description.id, description]));
  return a.descriptions.filter(hasText).flatMap((one) => {
    const other = second.get(one.id);
    if (other === undefined) return [];
    return Array.from({ length: samples }, (_, sample) =>
      [false, true].map((swapped) => ({
        key: JSON.stringify([one.id, sample, swapped ? 'ba' : 'ab']),
        set: `${a.name} | ${b.name}`,
        id: one.id,
        sample,
        about: one,
        shown: swapped ? ([other, one] as const) : ([one, other] as const),
        swapped,
      })),
    ).flat();
  });
}

/** The questions of a judging, in order. */
export function judgeTasks(mode: JudgeMode, sets: readonly DescriptionSet[], samples: number): JudgeTask[] {
  const names = new Set(sets.map(({ name }) => name));
  if (names.size < sets.length) {
    throw new ConfigError('two sets of descriptions have one name', { hint: 'give each a name of its own' });
  }
  const tasks = mode === 'grade' ? gradeTasks(sets, samples) : pairTasks(sets, samples);
  if (tasks.length > 0) return tasks;
  throw new InputError('there is nothing to judge: no description has a text, or no picture has two', {
    hint: 'sets that are compared must share their ids',
  });
}
