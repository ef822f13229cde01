import { createReadStream } from 'node:fs';
import { parseStream } from 'fast-csv';
import { asStorageError, InputError } from '../../core/index.ts';
import { locateColumns } from './columns.ts';
import type { BrokenRow, TableContent, WantedColumns } from './table.ts';

/** Reads columns of a CSV file (RFC 4180, a header line, UTF-8 with or without a byte order mark). */
export async function readCsv(path: string, wanted: WantedColumns, delimiter: string): Promise<TableContent> {
  const places: number[] = [];
  const broken: BrokenRow[] = [];
  const cells = new Map<string, string[]>();
  let columns: string[] | undefined;
  let lists: [position: number, list: string[]][] = [];
  let line = 1;
  const read = createReadStream(path);
  const csv = parseStream(read, { headers: false, delimiter, ignoreEmpty: false });
  // A stream that fails to open ends without an error on the parser, so it is passed on.
  read.on('error', (error) => csv.destroy(error));
  try {
    for await (const row of csv as AsyncIterable<string[]>) {
      const place = line;
      line += 1 + row.reduce((breaks, cell) => breaks + cell.split('\n').length - 1, 0);
      if (columns === undefined) {
        columns = row.map((cell) => cell.replace(/^\uFEFF/, '').trim());
        const found = locateColumns(path, columns, wanted, delimiterHint(columns, delimiter));
        lists = [...found].map(([name, position]) => {
          const list: string[] = [];
          cells.set(name, list);
          return [position, list];
        });
      } else if (row.length <= 1 && (row[0] ?? '').trim() === '' && columns.length > 1) {
        // An empty line is no row.
      } else if (row.length !== columns.length) {
        broken.push({ place, problem: `${row.length} cells, the header has ${columns.length}` });
      } else {
        places.push(place);
        for (const [position, list] of lists) list.push(row[position]!);
      }
    }
  } catch (error) {
    if (error instanceof Error && /^Parse Error/.test(error.message)) {
      // The parser's message quotes the rest of the file.
      throw new InputError(`${path}: the quotes do not balance, from about line ${line} on`, {
        hint: 'a cell with a quotation mark is written "like ""this"""',
      });
    }
    throw asStorageError(error, `reading ${path}`);
  }
  if (columns === undefined) throw new InputError(`${path} is empty`, { hint: 'a header line is needed' });
  return { columns, unit: 'line', places, cells, broken };
}

/** A header that is one cell, with another delimiter inside, was written with that one. */
function delimiterHint(columns: readonly string[], delimiter: string): string | undefined {
  const other = [';', '\t', ',', '|'].find((sign) => sign !== delimiter && columns[0]?.includes(sign));
  return columns.length === 1 && other !== undefined
    ? `the header is one cell, ${JSON.stringify(columns[0])}; is the delimiter ${JSON.stringify(other)}?`
    : undefined;
}
