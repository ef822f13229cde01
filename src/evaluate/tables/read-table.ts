import { open, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { asStorageError, InputError, sha256OfFile } from '../../core/index.ts';
import { readCsv } from './csv.ts';
import { readJsonLines } from './json-lines.ts';
import { readParquet } from './parquet.ts';
import type { Table, TableContent, TableFormat, WantedColumns } from './table.ts';

export interface ReadTableOptions {
  /** CSV only. Default "," and a tab for .tsv. */
  delimiter?: string;
}

/** Reads columns of a CSV, JSON Lines or Parquet file; the format follows from the name, else from the content. */
export async function readTable(
  path: string,
  wanted: WantedColumns,
  { delimiter }: ReadTableOptions = {},
): Promise<Table> {
  const format = await formatOf(path);
  const content = await readers[format](path, wanted, delimiter ?? (/\.tsv$/i.test(path) ? '\t' : ','));
  return { path, format, sha256: await sha256OfFile(path), ...content };
}

const readers: Record<
  TableFormat,
  (path: string, wanted: WantedColumns, delimiter: string) => Promise<TableContent>
> = { csv: readCsv, jsonl: readJsonLines, parquet: readParquet };

const FORMAT_OF_EXTENSION: Readonly<Record<string, TableFormat>> = {
  '.csv': 'csv',
  '.tsv': 'csv',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.parquet': 'parquet',
};

async function formatOf(path: string): Promise<TableFormat> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) {
      throw new InputError(`${path} is a folder, a table was expected`, {
        hint: 'give a CSV, JSON Lines or Parquet file, for example predictions.jsonl in that folder',
      });
    }
    if (!found.isFile()) {
      throw new InputError(`${path} is a pipe or a device, and a table is read more than once`, {
        hint: 'write it to a file first',
      });
    }
    const start = await startOf(path);
    const known = FORMAT_OF_EXTENSION[extname(path).toLowerCase()];
    if (known === 'parquet' || start.subarray(0, 4).toString('latin1') === 'PAR1') return 'parquet';
    requireUtf8(path, start);
    if (known !== undefined) return known;
    const first = start
      .toString('utf8')
      .replace(/^\uFEFF/, '')
      .trimStart()[0];
    if (first === '[') {
      throw new InputError(`${path} holds a JSON array`, {
        hint: 'write one object per line (JSON Lines), for example with jq -c ".[]"',
      });
    }
    return first === '{' ? 'jsonl' : 'csv';
  } catch (error) {
    throw asStorageError(error, `reading ${path}`);
  }
}

const START_BYTES = 4096;

async function startOf(path: string): Promise<Buffer> {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(START_BYTES), 0, START_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** Beginnings of files that people take for tables, and what to do with them. */
const NOT_UTF8: readonly [name: string, bytes: readonly number[], hint: string][] = [
  ['UTF-16 text', [0xff, 0xfe], 'save it as CSV in UTF-8 (spreadsheets call it "CSV UTF-8")'],
  ['UTF-16 text', [0xfe, 0xff], 'save it as CSV in UTF-8 (spreadsheets call it "CSV UTF-8")'],
  ['compressed with gzip', [0x1f, 0x8b], 'unpack it first'],
  ['a ZIP archive or a spreadsheet', [0x50, 0x4b, 0x03, 0x04], 'unpack it, or save the sheet as CSV'],
];

function requireUtf8(path: string, start: Buffer): void {
  const found = NOT_UTF8.find(([, bytes]) => bytes.every((byte, i) => start[i] === byte));
  if (found !== undefined) {
    throw new InputError(`${path} is ${found[0]}, text in UTF-8 was expected`, { hint: found[2] });
  }
  if (start.includes(0)) {
    throw new InputError(`${path} is not text: it has zero bytes`, {
      hint: 'give CSV or JSON Lines in UTF-8, or Parquet with the extension .parquet',
    });
  }
}
