import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { asStorageError, InputError, sha256OfFile } from '../../core/index.ts';
import { readCsv, readTsv, readTxt } from './delimited.ts';
import { readJson, readJsonLines } from './json.ts';
import { readMat } from './mat/index.ts';
import { readParquet } from './parquet.ts';
import {
  LABEL_FORMATS,
  type LabelFormat,
  type LabelTable,
  type TableContent,
  type TableLayout,
} from './table.ts';
import { readXlsx } from './xlsx.ts';

const READERS: Record<LabelFormat, (path: string, layout: TableLayout) => Promise<TableContent>> = {
  csv: readCsv,
  tsv: readTsv,
  txt: readTxt,
  json: readJson,
  jsonl: readJsonLines,
  parquet: readParquet,
  xlsx: readXlsx,
  mat: readMat,
};

/** The format that a file name promises; undefined where it promises none. */
export function formatOfName(path: string): LabelFormat | undefined {
  const extension = extname(path).slice(1).toLowerCase();
  return extension === 'ndjson' ? 'jsonl' : LABEL_FORMATS.find((format) => format === extension);
}

/** Reads a label file of any format whole. What makes it none is an InputError, a file that is not there a StorageError. */
export async function readLabelTable(path: string, layout: TableLayout = {}): Promise<LabelTable> {
  const format = layout.format ?? formatOfName(path);
  if (format === undefined) {
    throw new InputError(`${path} has no extension that names a format`, {
      hint: `allowed are ${LABEL_FORMATS.map((name) => `.${name}`).join(', ')}, or a manifest that gives the format`,
    });
  }
  await refuseUnreadable(path);
  const content = await READERS[format](path, layout);
  return { path, format, sha256: await sha256OfFile(path), ...content };
}

async function refuseUnreadable(path: string): Promise<void> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) {
      throw new InputError(`${path} is a folder, a label file was expected`, { hint: 'name the file in it' });
    }
    if (found.size === 0) {
      throw new InputError(`${path} is empty (0 bytes)`, { hint: 'copy or download the file again' });
    }
  } catch (error) {
    throw asStorageError(error, `reading ${path}`);
  }
}
