import * as zlib from 'node:zlib';
import {
  asyncBufferFromFile,
  type Compressors,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
} from 'hyparquet';
import { asStorageError, InputError } from '../../core/index.ts';
import { locateColumns } from './columns.ts';
import type { TableContent, WantedColumns } from './table.ts';

/** Node's own decompression; hyparquet brings Snappy alone. Zstandard is in Node from 22.15 on. */
const compressors: Compressors = {
  GZIP: (bytes) => zlib.gunzipSync(bytes),
  BROTLI: (bytes) => zlib.brotliDecompressSync(bytes),
  ...('zstdDecompressSync' in zlib
    ? { ZSTD: zlib.zstdDecompressSync as (bytes: Uint8Array) => Uint8Array }
    : {}),
};

/** Reads top-level columns of a Parquet file. Integers of 64 bits come as bigint, text as strings. */
export async function readParquet(path: string, wanted: WantedColumns): Promise<TableContent> {
  try {
    const file = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(file);
    const columns = parquetSchema(metadata).children.map(({ element }) => element.name);
    const names = [...locateColumns(path, columns, wanted).keys()];
    const rows: Record<string, unknown>[] = await parquetReadObjects({
      file,
      metadata,
      columns: names,
      compressors,
    });
    if (rows.length !== Number(metadata.num_rows)) {
      throw new Error(`${rows.length} rows could be read of the ${metadata.num_rows} that it says it has`);
    }
    if (rows.length === 0) throw new InputError(`${path} is empty`, { hint: 'it has columns and no rows' });
    return {
      columns,
      unit: 'row',
      places: rows.map((_, i) => i + 1),
      cells: new Map(names.map((name) => [name, rows.map((row) => row[name] ?? null)])),
      broken: [],
    };
  } catch (error) {
    const known = asStorageError(error, `reading ${path}`);
    if (known !== error || error instanceof InputError) throw known;
    throw new InputError(`${path} can't be read as Parquet: ${(error as Error).message}`, {
      hint: /compression codec/.test((error as Error).message)
        ? 'write it with Snappy, gzip, Brotli or no compression (Zstandard needs Node 22.15)'
        : 'the file may have been cut while it was copied or written; write it again, or save it as CSV',
      cause: error,
    });
  }
}
