import { FILTER_REASONS, type FilterReason } from './filter-config.ts';
import type { ColdStartRow } from './rows.ts';

/** Rows that a report shows under each heading, and characters of an answer. */
export const EXAMPLES = 3;
const LONGEST = 700;

export interface Refused {
  reason: FilterReason;
  examples: { row: ColdStartRow; detail: string }[];
}

/** For each reason that refused something, the first answers that it refused. */
export const refusedExamples = (rejected: readonly ColdStartRow[]): Refused[] =>
  FILTER_REASONS.flatMap((reason) => {
    const examples: Refused['examples'] = [];
    for (const row of rejected) {
      const because = row.rejectedBecause?.find((rejection) => rejection.reason === reason);
      if (because !== undefined) examples.push({ row, detail: because.detail });
      if (examples.length === EXAMPLES) break;
    }
    return examples.length === 0 ? [] : [{ reason, examples }];
  });

export const shortened = (text: string): string =>
  text.length > LONGEST ? `${text.slice(0, LONGEST)} ...` : text;

export const percent = (part: number, whole: number): string =>
  whole === 0 ? '-' : `${((100 * part) / whole).toFixed(1)} %`;
