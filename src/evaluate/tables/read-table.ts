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
    if ((await stat(path)).isDirectory()) {
      throw new InputError(`${path} is a folder, a table was expected`, {
        hint: 'give a CSV, JSON Lines or Parquet file, for example predictions.jsonl in that folder',
      });
    }
    const known = FORMAT_OF_EXTENSION[extname(path).toLowerCase()];
    if (known !== undefined) return known;
    const handle = await open(path);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(64), 0, 64, 0);
      const start = buffer.toString('latin1', 0, bytesRead);
      if (start.startsWith('PAR1')) return 'parquet';
      const first = start.replace(/^\u00EF\u00BB\u00BF/, '').trimStart()[0];
      if (first === '[') {
        throw new InputError(`${path} holds a JSON array`, {
          hint: 'write one object per line (JSON Lines)',
        });
      }
      return first === '{' ? 'jsonl' : 'csv';
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw asStorageError(error, `reading ${path}`);
  }
}
