import { InputError } from '../core/index.ts';
import type { ImageRecord } from '../data/index.ts';
import type { ColdStartRow } from '../teacher/index.ts';

/** Far below any difference between two scales or tables, far above the rounding of a JSON number. */
const TOLERANCE = 1e-6;

/** Refuses a teacher's row that was written for another MOS than the data set's: both belong to one version. */
export function requireSameMos(
  row: Pick<ColdStartRow, 'id' | 'mos'>,
  record: Pick<ImageRecord, 'mos'>,
  file: string,
): void {
  if (record.mos !== null && Math.abs(row.mos - record.mos) <= TOLERANCE) return;
  throw new InputError(
    `${file} was distilled from other scores: image ${row.id} has MOS ${row.mos} there, ${record.mos ?? 'none'} in the data set`,
    { hint: 'distil the rows again from this data set' },
  );
}
