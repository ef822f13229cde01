import { InputError, listNames } from '../core/index.ts';
import { parquetColumns } from '../formats/index.ts';
import { cellAt, formatOfName, type LabelTable, readLabelTable, textOf } from './readers/index.ts';

/** One row of a table. */
export interface TableRow {
  /** Row of the table from 1: of a table with a header this is row 1. */
  row: number;
  /** The wanted cells as text by column name; empty where there is nothing. */
  cells: Readonly<Record<string, string>>;
  /** What makes the row unreadable, if anything does. */
  problem?: string;
}

/** A column that a table must have, and how to name another one. */
export interface WantedColumn {
  name: string;
  setting: string;
}

/** What there is to choose from in a table. */
export interface TableColumns {
  /** Columns with names, numbers and texts. */
  labels: string[];
  /** Columns that hold the pictures themselves (Parquet). */
  pictures: string[];
}

/** A table without an extension that says otherwise is one of separated values. */
const readAny = (path: string): Promise<LabelTable> =>
  readLabelTable(path, formatOfName(path) === undefined ? { format: 'csv' } : {});

/** The columns of a table. What makes it none is an InputError. */
export async function tableColumns(path: string): Promise<TableColumns> {
  if (formatOfName(path) === 'parquet') return parquetColumns(path);
  return { labels: (await readAny(path)).columns, pictures: [] };
}

/** Whether a column of labels has this name; it may also be a path in a JSON row, as `image[0]`. */
export const hasLabels = ({ labels }: Pick<TableColumns, 'labels'>, name: string): boolean =>
  labels.includes(name) || labels.includes(name.split(/[.[]/)[0]!);

/**
 * Reads a table: by the file's extension any format of labels, else separated values with a header row. What makes
 * it no such table is an InputError, and so are columns that it lacks: all in one.
 */
export async function readTable(path: string, wanted: readonly WantedColumn[]): Promise<TableRow[]> {
  const { columns, rows } = await readAny(path);
  const missing = wanted.filter(({ name }) => !hasLabels({ labels: columns }, name));
  if (missing.length > 0) {
    throw new InputError(`${path} has no column ${missing.map(({ name }) => name).join(', ')}`, {
      hint: `its columns are ${columns.join(', ') || '(none)'}; name one with ${missing.map(({ setting }) => setting).join(', ')}`,
    });
  }
  return rows.map(({ place, cells, problem }) => ({
    row: place,
    cells: Object.fromEntries(wanted.map(({ name }) => [name, shown(cellAt(cells, name))])),
    ...(problem === undefined ? {} : { problem }),
  }));
}

/** Lists, objects, true and false are no names and no numbers; messages show them as they are. */
const shown = (cell: unknown): string =>
  textOf(cell) ??
  (cell === null || cell === undefined || typeof cell === 'string' ? '' : JSON.stringify(cell));

/** The columns of a table for a message. */
export const describeColumns = ({ labels, pictures }: TableColumns): string =>
  `${listNames(labels, 30) || '(none)'}${pictures.length === 0 ? '' : `, and of pictures ${listNames(pictures)}`}`;
