import { z } from 'zod';
import { InputError, listNames, readAllJsonl, sha256OfFile } from '../core/index.ts';
import type { Teacher, TeachingRecord } from './teacher.ts';

/**
 * A line of recorded answers: of a journal (`text`) or of a distilled set (`response`). Whatever else it holds is
 * not read.
 */
const recordedSchema = z
  .looseObject({
    id: z.string().min(1),
    sample: z.int().min(0).optional(),
    text: z.string().optional(),
    response: z.string().optional(),
    finishReason: z.string().optional(),
    withoutText: z.enum(['refused', 'empty']).optional(),
  })
  .refine(({ text, response }) => text !== undefined || response !== undefined, {
    error: 'has neither text nor response',
  });

/** Texts of each image, in their order. */
export interface RecordedTexts {
  name: string;
  version: string;
  /** By image id. */
  texts: ReadonlyMap<string, readonly Recorded[]>;
}

export interface Recorded {
  text: string;
  finishReason?: string;
  withoutText?: 'refused' | 'empty';
}

/** A teacher that says what was recorded: as many answers about each image as there are, none about the others. */
export function recordedTeacher({ name, version, texts }: RecordedTexts): Teacher {
  const of = (id: string): readonly Recorded[] => texts.get(id) ?? [];
  return {
    name,
    version,
    seed: null,
    freely: true,
    answersFor: ({ id }) => of(id).length,
    answer: async ({ record, sample }) => {
      const recorded = of(record.id)[sample];
      if (recorded === undefined) throw new InputError(`there is no text ${sample} about image ${record.id}`);
      return { ...recorded };
    },
  };
}

/** Which images have texts and which texts have images. No overlap at all is an InputError. */
export function matchRecords(
  file: string,
  texts: ReadonlyMap<string, readonly Recorded[]>,
  records: readonly TeachingRecord[],
): { without: number; strangers: number } {
  const ids = new Set(records.map(({ id }) => id));
  const strangers = [...texts.keys()].filter((id) => !ids.has(id));
  if (texts.size > 0 && strangers.length < texts.size) {
    return { without: records.filter(({ id }) => !texts.has(id)).length, strangers: strangers.length };
  }
  const found = texts.size === 0 ? 'holds no text' : `speaks of ${listNames(strangers, 3)}`;
  const wanted = listNames(
    records.map(({ id }) => id),
    3,
  );
  throw new InputError(`${file} does not fit the data set: it ${found}, the images are ${wanted}`, {
    hint: 'give the file that was recorded with this data set and these splits',
  });
}

/** Reads answers.jsonl of a distillation, or its accepted.jsonl or rejected.jsonl, to be given again. */
export async function readReplay(file: string): Promise<RecordedTexts> {
  const texts = new Map<string, (Recorded & { sample: number })[]>();
  for (const row of await readAllJsonl(file, recordedSchema)) {
    const { id, finishReason, withoutText } = row;
    const ofImage = texts.get(id) ?? [];
    texts.set(id, ofImage);
    ofImage.push({
      sample: row.sample ?? ofImage.length,
      text: row.text ?? row.response ?? '',
      ...(finishReason === undefined ? {} : { finishReason }),
      ...(withoutText === undefined ? {} : { withoutText }),
    });
  }
  const ordered = new Map(
    [...texts].map(([id, ofImage]) => [
      id,
      ofImage.sort((a, b) => a.sample - b.sample).map(({ sample: _sample, ...recorded }) => recorded),
    ]),
  );
  return { name: 'replay', version: (await sha256OfFile(file)).slice(0, 16), texts: ordered };
}
