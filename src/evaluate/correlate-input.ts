import { InputError, listNames } from '../core/index.ts';
import { datasetNames, groupReader } from './correlate-groups.ts';
import { refuseRepeatedColumns, refuseRepeatedFiles, USUAL_ID_COLUMNS } from './correlate-guards.ts';
import { indexById, type JoinedRows, joinLabels } from './correlate-join.ts';
import type { CorrelateOptions } from './correlate-options.ts';
import { LEAST_ROWS } from './least-rows.ts';
import { numberOf, readTable, type SkippedRow, type Table } from './tables/index.ts';

/** Images of one side only, when labels come from a second file. */
export interface Unmatched {
  predictions: { count: number; examples: string[] };
  labels: { count: number; examples: string[] };
}

/** The rows that have a number in every column asked for, as columns. */
export interface PairedColumns {
  tables: Table[];
  labels: Table | null;
  /** One list per prediction column, in the order asked for. */
  predictions: Float64Array[];
  targets: Float64Array;
  /** Value of the `by` column of each row; null when none was asked for. */
  groups: string[] | null;
  /** Data set of each row: the column "dataset", else the file's name. */
  datasets: string[];
  /** Name of the column that identifies the images; null where none does. */
  idColumn: string | null;
  /** Image ids of each row; null where no column identifies the images. */
  ids: string[] | null;
  /** Rows read, before any was left out. */
  rows: number;
  skipped: SkippedRow[];
  unmatched: Unmatched | null;
}

/** Reads the tables, joins labels and keeps the usable rows. What was left out is listed, nothing is guessed. */
export async function readPairs(options: CorrelateOptions): Promise<PairedColumns> {
  const { files, predictions, target, delimiter } = options;
  const [by, labelsPath] = [options.by ?? undefined, options.labels ?? undefined];
  const csv = delimiter == null ? {} : { delimiter };
  refuseRepeatedColumns(options);
  const named = labelsPath === undefined && options.id == null ? USUAL_ID_COLUMNS : [];
  const optional = [...(by === undefined ? [] : [by]), 'dataset', 'distortionsTrue', 'id', ...named];
  const inFiles = [...predictions, ...(labelsPath === undefined ? [target] : [])];
  const required = [...inFiles, ...(options.id == null ? [] : [options.id])];
  const tables: Table[] = [];
  for (const path of files) tables.push(await readTable(path, { required, optional }, csv));
  refuseRepeatedFiles(tables);

  const id = options.id ?? (tables.every(isOwn) ? 'id' : undefined);
  let labels: Table | null = null;
  if (labelsPath !== undefined) {
    if (id === undefined) {
      throw new InputError(`labels in ${labelsPath} need a column that identifies the images`, {
        hint: 'name it with --id, for example --id image',
      });
    }
    const key = options.labelsId ?? id;
    labels = await readTable(labelsPath, { required: [key, target], optional }, csv);
  }
  const joined: JoinedRows =
    labels === null || id === undefined
      ? { rowOf: null, unmatched: null }
      : joinLabels(tables, id, labels, options.labelsId ?? id);
  if (id !== undefined && labels === null) for (const table of tables) indexById([table], id);
  return usableRows(options, tables, labels, id, joined);
}

/** Predictions that `q-ponder eval run` wrote. */
export const isOwn = (table: Table): boolean =>
  table.format === 'jsonl' &&
  ['id', 'mos', 'score', 'status', 'wellFormed'].every((name) => table.columns.includes(name));

function usableRows(
  options: CorrelateOptions,
  tables: Table[],
  labels: Table | null,
  id: string | undefined,
  { rowOf, unmatched }: JoinedRows,
): PairedColumns {
  const kept: number[][] = [...options.predictions, options.target].map(() => []);
  const groups: string[] = [];
  const datasets: string[] = [];
  const ids: string[] = [];
  const skipped: SkippedRow[] = [];
  let rows = 0;
  const names = datasetNames(options.files);
  for (const [t, table] of tables.entries()) {
    const groupOf = groupReader(options.by ?? undefined, table, labels, names[t]!);
    const datasetOf = groupReader('dataset', table, labels, names[t]!);
    rows += table.places.length + table.broken.length;
    for (const { place, problem } of table.broken) skipped.push(skip(table, place, null, 'broken', problem));
    for (let row = 0; row < table.places.length; row++) {
      const labelRow = rowOf === null ? row : rowOf[t]![row]!;
      if (labelRow < 0) continue;
      const sources = [
        ...options.predictions.map((name) => [table, row, name] as const),
        [labels ?? table, labelRow, options.target] as const,
      ];
      let usable = true;
      const values = sources.map(([source, at, name]) => {
        const value = numberOf(source.cells.get(name)![at]);
        if (typeof value === 'number') return value;
        // One sentence per row: the first cell that is no number.
        if (usable) skipped.push(skip(source, source.places[at]!, name, value.kind, value.found));
        usable = false;
        return Number.NaN;
      });
      if (!usable) continue;
      for (const [i, value] of values.entries()) kept[i]!.push(value);
      groups.push(groupOf(row, labelRow));
      datasets.push(datasetOf(row, labelRow));
      if (id !== undefined) ids.push(String(table.cells.get(id)![row]));
    }
  }
  refuseWithoutNumbers(options, skipped, rows, kept[0]!.length);
  return {
    tables,
    labels,
    predictions: options.predictions.map((_, i) => Float64Array.from(kept[i]!)),
    targets: Float64Array.from(kept.at(-1)!),
    groups: options.by == null ? null : groups,
    datasets,
    idColumn: id ?? null,
    ids: id === undefined ? null : ids,
    rows,
    skipped,
    unmatched,
  };
}

const skip = (
  { path, unit }: Table,
  place: number,
  column: string | null,
  kind: SkippedRow['kind'],
  found: string,
): SkippedRow => ({ file: path, place, unit, column, kind, found });

function refuseWithoutNumbers(
  { files, predictions, target }: CorrelateOptions,
  skipped: readonly SkippedRow[],
  rows: number,
  usable: number,
): void {
  if (usable >= LEAST_ROWS) return;
  const columns = listNames([...predictions, target].map((name) => `"${name}"`));
  const [first] = skipped;
  const problem =
    first === undefined
      ? rows === 0
        ? 'the file has a header and no rows below it'
        : 'two points always correlate by 1 or -1: measure more images'
      : `first problem: ${first.file}, ${first.unit} ${first.place}, ${first.column === null ? '' : `"${first.column}" `}${problemText(first)}`;
  throw new InputError(
    `${listNames(files)}: ${usable} of ${rows} row(s) have a number in each of ${columns}, at least ${LEAST_ROWS} are needed`,
    { hint: first !== undefined && isDecimalComma(first) ? `${problem}; write decimal points` : problem },
  );
}

const isDecimalComma = ({ kind, found }: SkippedRow): boolean =>
  kind === 'not-a-number' && /^"?[+-]?\d+,\d+"?$/.test(found);

const problemText = ({ kind, found }: SkippedRow): string =>
  kind === 'empty' ? 'is empty' : kind === 'broken' ? found : `is ${found}, not a number`;
