import { Readable } from 'node:stream';
import { parse } from 'fast-csv';
import { asStorageError, InputError } from '../../core/index.ts';
import { nameColumns, type PlainRow } from './header.ts';
import type { TableContent, TableLayout } from './table.ts';
import { readText, textPieces } from './text.ts';

/** What spreadsheets put between cells where the comma is the decimal point, and what databases do. */
const OTHER_SEPARATORS = [';', '\t', '|'] as const;

/** The comma, unless the header has none and another separator: no column of the field is called "a;b". */
async function separatorOf(path: string): Promise<string> {
  let header = '';
  for await (const piece of textPieces(path)) {
    header += piece;
    if (/[\r\n]/.test(header.trimStart())) break;
  }
  const line = header.trimStart().split(/[\r\n]/)[0]!;
  if (line.includes(',')) return ',';
  return OTHER_SEPARATORS.find((sign) => line.includes(sign)) ?? ',';
}

/** Comma-separated values with quotation marks (RFC 4180), or another separator: the one given, or by the header. */
export async function readCsv(path: string, layout: TableLayout): Promise<TableContent> {
  const rows: PlainRow[] = [];
  try {
    // Headers are read apart: fast-csv refuses tables with several unnamed columns, which real ones have.
    const stream = Readable.from(textPieces(path));
    const parser = parse<string[], string[]>({
      headers: false,
      trim: true,
      delimiter: layout.separator ?? (layout.columns === undefined ? await separatorOf(path) : ','),
    });
    stream.on('error', (error) => parser.destroy(error));
    let place = 0;
    for await (const cells of stream.pipe(parser) as AsyncIterable<string[]>)
      rows.push({ place: ++place, cells });
  } catch (error) {
    const storage = asStorageError(error, `reading ${path}`);
    if (storage !== error || error instanceof InputError) throw storage;
    throw new InputError(`${path} is not a table of separated values: ${(error as Error).message}`, {
      hint: 'a cell with a quotation mark in it must be quoted, with the mark doubled',
    });
  }
  return nameColumns(path, rows, layout);
}

export const readTsv = (path: string, layout: TableLayout): Promise<TableContent> =>
  readCsv(path, { ...layout, separator: layout.separator ?? '\t' });

/** One item a line, cells separated by any white space or by one sign; no quotation marks. */
export async function readTxt(path: string, layout: TableLayout): Promise<TableContent> {
  let text: string;
  try {
    text = await readText(path);
  } catch (error) {
    throw asStorageError(error, `reading ${path}`);
  }
  const { separator } = layout;
  // Lone carriage returns end lines too: lists written by old tools have nothing else.
  const rows = text.split(/\r\n|\n|\r/).map((line, i): PlainRow => {
    const trimmed = line.trim();
    const cells = separator === undefined ? trimmed.split(/\s+/) : line.split(separator);
    return { place: i + 1, cells: trimmed === '' ? [] : cells.map((cell) => cell.trim()) };
  });
  return nameColumns(path, rows, layout);
}
