import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, parquetSchema } from 'hyparquet';
import { asStorageError, InputError } from '../core/index.ts';
import { compressors } from './parquet-compression.ts';

export interface ParquetColumn {
  name: string;
  /** Whether its cells are raw bytes, as pictures are, and not text or numbers. */
  bytes: boolean;
}

/**
 * Reads top-level columns of a Parquet file whole. Integers of 64 bits come as bigint, text as strings. InputError
 * for a file that is no whole Parquet, and what `choose` throws.
 *
 * @param choose names the columns to read, from all that there are
 */
export async function readParquetRows(
  path: string,
  choose: (columns: readonly ParquetColumn[]) => string[],
): Promise<{ columns: ParquetColumn[]; rows: Record<string, unknown>[] }> {
  try {
    const file = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(file);
    const columns = parquetSchema(metadata).children.map(({ element }) => ({
      name: element.name,
      bytes: element.type === 'BYTE_ARRAY' && !isText(element),
    }));
    const rows: Record<string, unknown>[] = await parquetReadObjects({
      file,
      metadata,
      columns: choose(columns),
      compressors,
    });
    if (rows.length !== Number(metadata.num_rows)) {
      throw new Error(`${rows.length} rows could be read of the ${metadata.num_rows} that it says it has`);
    }
    return { columns, rows };
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

const isText = (element: { converted_type?: string; logical_type?: { type: string } }): boolean =>
  element.converted_type === 'UTF8' ||
  element.converted_type === 'JSON' ||
  element.converted_type === 'ENUM' ||
  element.logical_type !== undefined;
