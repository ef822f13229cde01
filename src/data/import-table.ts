import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { parse } from 'fast-csv';
import { asStorageError, InputError, listNames } from '../core/index.ts';
import { cellAt, formatOfName, readLabelTable, textOf } from './readers/index.ts';

/** One row of a table: its cells by column name, and those that lie beyond the header's last column. */
export interface TableRow {
  /** Row of the table, the header being row 1. */
  row: number;
  cells: Readonly<Record<string, string>>;
  surplus: readonly string[];
}

/** A column that a table must have, and how to name another one. */
export interface WantedColumn {
  name: string;
  setting: string;
}

const OTHER_DELIMITERS: readonly (readonly [string, string])[] = [
  [';', 'semicolons'],
  ['\t', 'tabs'],
  ['|', 'vertical bars'],
];

/**
 * Reads a table: comma-separated values with a header row, or by the file's extension any other format of labels.
 * What makes it no such table is an InputError.
 */
export async function readTable(path: string, wanted: readonly WantedColumn[]): Promise<TableRow[]> {
  const format = formatOfName(path);
  if (format !== undefined && format !== 'csv') return readOther(path, wanted);
  const [header = [], ...body] = await readRows(path);
  const names = header.map((name) => name.replace(/^\uFEFF/, '').trim());
  const named = names.filter((name) => name !== '');
  const missing = wanted.find(({ name }) => !names.includes(name));
  if (missing !== undefined) {
    throw new InputError(`${path} has no column ${missing.name}`, { hint: hintFor(missing, named) });
  }
  const repeated = [...new Set(named.filter((name, i) => named.indexOf(name) !== i))];
  if (repeated.length > 0) {
    throw new InputError(`${path} has several columns named ${listNames(repeated)}`, {
      hint: 'give every column its own name in the header row',
    });
  }
  return body.map((cells, i) => ({
    row: i + 2,
    cells: Object.fromEntries(names.map((name, k) => [name, cells[k] ?? ''])),
    surplus: cells.slice(names.length).filter((cell) => cell !== ''),
  }));
}

/** A wanted column may also be a path in a JSON row, as `image[0]`. */
async function readOther(path: string, wanted: readonly WantedColumn[]): Promise<TableRow[]> {
  const { columns, rows } = await readLabelTable(path);
  const missing = wanted.find(
    ({ name }) => !columns.includes(name) && !columns.includes(name.split(/[.[]/)[0]!),
  );
  if (missing !== undefined) {
    throw new InputError(`${path} has no column ${missing.name}`, { hint: hintFor(missing, columns) });
  }
  return rows.map(({ place, cells, problem }) => ({
    row: place,
    cells: Object.fromEntries(wanted.map(({ name }) => [name, textOf(cellAt(cells, name)) ?? ''])),
    surplus: problem === undefined ? [] : [problem],
  }));
}

function hintFor({ setting }: WantedColumn, named: readonly string[]): string {
  const delimiter = OTHER_DELIMITERS.find(([sign]) => named.length <= 1 && named[0]?.includes(sign));
  if (delimiter !== undefined) {
    return `its header is separated by ${delimiter[1]}; save the table with commas`;
  }
  return `its columns are ${named.join(', ') || '(none)'}; name one with ${setting}`;
}

async function readRows(path: string): Promise<string[][]> {
  const rows: string[][] = [];
  try {
    if ((await stat(path)).size === 0) {
      throw new InputError(`${path} is empty (0 bytes)`, { hint: 'save the table again' });
    }
    // Headers are read apart: fast-csv refuses tables with several unnamed columns, which real ones have.
    const stream = createReadStream(path);
    const parser = parse<string[], string[]>({ headers: false, trim: true });
    stream.on('error', (error) => parser.destroy(error));
    for await (const row of stream.pipe(parser)) rows.push(row as string[]);
  } catch (error) {
    const storage = asStorageError(error, `reading ${path}`);
    if (storage !== error || error instanceof InputError) throw storage;
    throw new InputError(`${path} is not a table of comma-separated values: ${(error as Error).message}`, {
      hint: 'a cell with a quotation mark in it must be quoted, with the mark doubled',
    });
  }
  return rows;
}
