import { posix } from 'node:path';
import { InputError, listNames } from '../core/index.ts';
import type { Unmatched } from './correlate-input.ts';
import type { Table } from './tables/index.ts';

export interface JoinedRows {
  /** For each table the label row of each of its rows, -1 where there is none; null without labels. */
  rowOf: Int32Array[] | null;
  unmatched: Unmatched | null;
}

/** Ids that a sentence names; it always counts all. */
const NAMED = 5;

/** Row of each id over all tables. An id that is empty or occurs twice is an InputError that names it. */
export function indexById(
  tables: readonly Table[],
  column: string,
): Map<string, [table: number, row: number]> {
  const rows = new Map<string, [number, number]>();
  const repeated = new Map<string, number[]>();
  const nameless: number[] = [];
  for (const [t, table] of tables.entries()) {
    const cells = table.cells.get(column)!;
    for (const [row, cell] of cells.entries()) {
      const id = idOf(cell);
      const before = rows.get(id);
      if (id === '') nameless.push(table.places[row]!);
      else if (before === undefined) rows.set(id, [t, row]);
      else {
        const places = repeated.get(id) ?? [tables[before[0]]!.places[before[1]]!];
        repeated.set(id, [...places, table.places[row]!]);
      }
    }
  }
  const paths = listNames(tables.map(({ path }) => path));
  const { unit } = tables[0]!;
  if (repeated.size > 0) {
    const examples = [...repeated].map(([id, places]) => `${id} (${unit}s ${places.join(', ')})`);
    throw new InputError(
      `${paths}: ${repeated.size} value(s) of "${column}" occur more than once: ${listNames(examples, NAMED)}`,
      { hint: 'keep one row per image; which of several counts is not for this program to choose' },
    );
  }
  if (nameless.length > 0) {
    throw new InputError(
      `${paths}: "${column}" is empty in ${nameless.length} row(s): ${unit} ${listNames(nameless.map(String), NAMED)}`,
      { hint: 'every row needs the id of its image' },
    );
  }
  return rows;
}

/** Finds the label of each prediction by exact id. No match at all is an InputError; partial ones are counted. */
export function joinLabels(
  tables: readonly Table[],
  id: string,
  labels: Table,
  labelsId: string,
): JoinedRows {
  const predicted = indexById(tables, id);
  const labelled = indexById([labels], labelsId);
  const rowOf = tables.map((table) =>
    Int32Array.from(table.cells.get(id)!, (cell) => labelled.get(idOf(cell))?.[1] ?? -1),
  );
  const withoutLabel = [...predicted.keys()].filter((key) => !labelled.has(key));
  const withoutPrediction = [...labelled.keys()].filter((key) => !predicted.has(key));
  if (withoutLabel.length === predicted.size) {
    throw new InputError(
      `no "${id}" of the ${predicted.size} predictions occurs among the ${labelled.size} "${labelsId}" of ${labels.path}: ` +
        `predictions have ${listNames(withoutLabel, 2)}, labels have ${listNames(withoutPrediction, 2)}`,
      { hint: joinHint(withoutLabel, withoutPrediction) },
    );
  }
  const side = (ids: string[]) => ({ count: ids.length, examples: ids.slice(0, NAMED) });
  return { rowOf, unmatched: { predictions: side(withoutLabel), labels: side(withoutPrediction) } };
}

const idOf = (cell: unknown): string => (cell === null || cell === undefined ? '' : String(cell).trim());

/** Spellings of one file name that people mix; said, never assumed. */
const SPELLINGS: readonly [what: string, spell: (id: string) => string][] = [
  ['without the folders', (id) => posix.basename(id)],
  ['without the extension', (id) => id.replace(/\.[^./]+$/, '')],
  ['without folders and extension', (id) => posix.basename(id).replace(/\.[^./]+$/, '')],
  ['in lower case', (id) => id.toLowerCase()],
];

function joinHint(predicted: readonly string[], labelled: readonly string[]): string {
  for (const [what, spell] of SPELLINGS) {
    const known = new Set(labelled.map(spell));
    const count = predicted.filter((id) => known.has(spell(id))).length;
    if (count > 0) return `${count} would match ${what}: write the ids alike in both files`;
  }
  return 'are these the files of one data set?';
}
