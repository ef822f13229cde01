import type { Table } from './table.ts';

/** A row that was left out of the measurement, and why. */
export interface SkippedRow {
  file: string;
  /** Line of a text file or row of a Parquet file, both from 1. */
  place: number;
  unit: Table['unit'];
  /** Null where the whole row is broken. */
  column: string | null;
  kind: 'empty' | 'not-finite' | 'not-a-number' | 'broken';
  /** What was found, "" for an empty cell. */
  found: string;
}

/** Places that a sentence names; it always counts all. */
const NAMED = 8;

const WHAT: Record<SkippedRow['kind'], string> = {
  empty: 'is empty',
  'not-finite': 'is NaN or infinite',
  'not-a-number': 'is not a number',
  broken: "can't be read",
};

/** One sentence for each file, column and kind of problem: how many rows, and which. */
export function skippedSentences(skipped: readonly SkippedRow[]): string[] {
  const groups = new Map<string, SkippedRow[]>();
  for (const row of skipped) {
    const key = JSON.stringify([row.file, row.column, row.kind]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return [...groups.values()].map((rows) => {
    const { file, column, kind, unit } = rows[0]!;
    const subject = column === null ? 'the row' : `"${column}"`;
    const named = rows.slice(0, NAMED).map(({ place, found }) => {
      return kind === 'not-a-number' || kind === 'broken' ? `${place} (${found})` : `${place}`;
    });
    const more = rows.length > NAMED ? ` and ${rows.length - NAMED} more` : '';
    const rowsText = rows.length === 1 ? '1 row' : `${rows.length} rows`;
    const unitText = rows.length === 1 ? unit : `${unit}s`;
    return `${file}: ${subject} ${WHAT[kind]} in ${rowsText}, left out: ${unitText} ${named.join(', ')}${more}`;
  });
}
