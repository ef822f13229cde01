import { createReadStream } from 'node:fs';
import { parseStream } from 'fast-csv';
import { asStorageError, InputError } from '../core/index.ts';

export interface SkippedLine {
  /** Line of the file, counted from 1; the header is line 1. */
  line: number;
  problem: string;
}

export interface NumberRow {
  line: number;
  /** One number per column asked for, in that order. */
  values: number[];
  /** The cell of the label column, "" when none was asked for. */
  label: string;
}

export interface NumberColumnOptions {
  /** A further column to read as text. */
  label?: string;
  /** Default ",". */
  delimiter?: string;
}

/**
 * Reads named columns of a CSV file as numbers. Rows that cannot be used are returned with their line and the
 * problem; nothing is guessed. A column that is absent, or holds no number at all, is an InputError.
 */
export async function readNumberColumns(
  path: string,
  columns: readonly string[],
  { label, delimiter = ',' }: NumberColumnOptions = {},
): Promise<{ rows: NumberRow[]; skipped: SkippedLine[] }> {
  const rows: NumberRow[] = [];
  const skipped: SkippedLine[] = [];
  const numbersSeen = columns.map(() => 0);
  let header: string[] | undefined;
  let wanted: number[] = [];
  let labelAt = -1;
  let line = 1;
  const read = createReadStream(path);
  const csv = parseStream(read, { headers: false, delimiter, ignoreEmpty: false });
  // A stream that fails to open ends without an error on the parser, so it is passed on.
  read.on('error', (error) => csv.destroy(error));
  try {
    for await (const cells of csv as AsyncIterable<string[]>) {
      const start = line;
      line += 1 + cells.reduce((breaks, cell) => breaks + cell.split('\n').length - 1, 0);
      if (header === undefined) {
        header = cells.map((cell) => cell.replace(/^\uFEFF/, '').trim());
        wanted = columns.map((name) => columnIndex(path, header!, name, delimiter));
        labelAt = label === undefined ? -1 : columnIndex(path, header, label, delimiter);
        continue;
      }
      if (cells.length <= 1 && (cells[0] ?? '').trim() === '' && header.length > 1) continue; // An empty line.
      if (cells.length !== header.length) {
        skipped.push({ line: start, problem: `${cells.length} cells, the header has ${header.length}` });
        continue;
      }
      const values = wanted.map((at) => parseNumber(cells[at]!));
      for (const [i, value] of values.entries()) if (value !== undefined) numbersSeen[i]!++;
      const bad = values.indexOf(undefined);
      if (bad >= 0) {
        skipped.push({ line: start, problem: cellProblem(columns[bad]!, cells[wanted[bad]!]!) });
      } else {
        rows.push({
          line: start,
          values: values as number[],
          label: labelAt < 0 ? '' : cells[labelAt]!.trim(),
        });
      }
    }
  } catch (error) {
    if (error instanceof Error && /^Parse Error/.test(error.message)) {
      throw new InputError(`${path}: ${error.message} (near line ${line})`, {
        hint: 'the file must be CSV with balanced quotes',
      });
    }
    throw asStorageError(error, `reading ${path}`);
  }
  if (header === undefined) throw new InputError(`${path} is empty`, { hint: 'a header line is needed' });
  const empty = columns.filter((_, i) => numbersSeen[i] === 0);
  if (empty.length > 0 && skipped.length > 0) {
    throw new InputError(
      `${path}: no cell of column ${empty.map((name) => `"${name}"`).join(' and ')} is a number in ${skipped.length} row(s)`,
      { hint: `columns found: ${header.join(', ')}` },
    );
  }
  return { rows, skipped };
}

function columnIndex(path: string, header: readonly string[], name: string, delimiter: string): number {
  const matches = header.filter((column) => column === name).length;
  if (matches === 1) return header.indexOf(name);
  const other = [';', '\t', ','].find(
    (candidate) => candidate !== delimiter && header[0]?.includes(candidate),
  );
  const hint =
    header.length === 1 && other !== undefined
      ? `the header is one cell, ${JSON.stringify(header[0])}; is the delimiter ${JSON.stringify(other)}?`
      : `columns found: ${header.join(', ')}`;
  throw new InputError(`${path} has ${matches === 0 ? 'no' : matches} column(s) "${name}"`, { hint });
}

/** A finite decimal number, or undefined: an empty cell is not 0, and a decimal comma is not a point. */
function parseNumber(cell: string): number | undefined {
  const text = cell.trim();
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

const cellProblem = (column: string, cell: string): string =>
  cell.trim() === ''
    ? `"${column}" is empty`
    : `"${column}" is ${JSON.stringify(cell.slice(0, 40))}, not a number`;
