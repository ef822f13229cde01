import { InputError, readAllJsonl } from '../core/index.ts';
import { distortionsNamed } from '../data/index.ts';
import type { IqaTarget } from '../env/index.ts';
import type { VisionLanguageModel } from '../model/index.ts';
import { type ColdStartRow, coldStartRowSchema } from '../teacher/index.ts';
import type { Examples } from './examples.ts';
import { type ResponseDemonstration, responseDemonstration } from './r3-starts.ts';
import { requireSameMos } from './teacher-scores.ts';
import { requireMos } from './validation.ts';

/** The accepted rows of a teacher about training images, by image id; the last of several about one. */
export async function taughtRows(
  train: Examples,
  path: string,
  dataset: string,
): Promise<Map<string, ColdStartRow>> {
  const rows = new Map<string, ColdStartRow>();
  const recordOf = new Map(train.records.map((record) => [record.id, record]));
  for (const row of await readAllJsonl(path, coldStartRowSchema)) {
    const record = recordOf.get(row.id);
    if (record !== undefined) requireSameMos(row, record, path);
    if (row.accepted) rows.set(row.id, row);
  }
  if (rows.size === 0) throw new InputError(`${path} holds no accepted row`);
  if (!train.records.some(({ id }) => rows.has(id))) {
    throw new InputError(`${path} speaks of no image in the train split of ${dataset}`, {
      hint: 'distil the rows from this data set with splits: [train]',
    });
  }
  return rows;
}

/** What each training image is rewarded for: its MOS, and the distortions that its reasoning should name. */
export const targetsOf = (train: Examples, taught: ReadonlyMap<string, ColdStartRow>): IqaTarget[] =>
  train.records.map((record) => {
    const row = taught.get(record.id);
    return {
      dataset: record.dataset,
      mos: requireMos(record),
      ...(record.mosStd === null ? {} : { mosStd: record.mosStd }),
      ...(row === undefined ? {} : { referenceDistortions: distortionsNamed(row.response) }),
    };
  });

/** The teacher's answers as demonstrations, by index of the training image. InputError names the row that is none. */
export function demonstrationsOf(
  train: Examples,
  taught: ReadonlyMap<string, ColdStartRow>,
  { tokenizer }: VisionLanguageModel,
  { by, path }: { by: 'sentence' | 'token'; path: string },
): Map<number, ResponseDemonstration> {
  return new Map(
    train.records.flatMap(({ id }, record): [number, ResponseDemonstration][] => {
      const row = taught.get(id);
      if (row === undefined) return [];
      try {
        return [[record, responseDemonstration(row.response, { tokenizer, by })]];
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        const { message, hint } = error;
        throw new InputError(`${path}, the row of image ${id}: ${message}`, {
          ...(hint === undefined ? {} : { hint }),
          cause: error,
        });
      }
    }),
  );
}
