import {
  asyncBufferFromFile,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
  type SchemaTree,
} from 'hyparquet';
import { asStorageError, InputError } from '../core/index.ts';
import { compressors } from './parquet-compression.ts';

/** A row group is read whole, and a buffer of Node holds no more. */
const LARGEST_ROW_GROUP = 2 ** 31;

export interface ParquetColumns {
  /** Columns with text, numbers and lists of these. */
  labels: string[];
  /** Columns of pictures: raw bytes, or as Hugging Face's data sets have them structs {bytes, path}. */
  pictures: string[];
}

/** A picture as a row holds it. */
export interface PictureCell {
  /** Position of the row, from 1. */
  row: number;
  /** The picture file; null where the cell is empty. */
  bytes: Uint8Array | null;
  /** What the picture was called where it came from; null where nothing says so. */
  path: string | null;
}

/** Which columns hold labels and which hold pictures. Columns with raw bytes of another form are in neither list. */
export async function parquetColumns(path: string): Promise<ParquetColumns> {
  return asParquet(path, async () => {
    const { children } = parquetSchema(await metadataOf(path));
    return {
      labels: children.filter((column) => !hasBytes(column)).map(({ element }) => element.name),
      pictures: children.filter(isPicture).map(({ element }) => element.name),
    };
  });
}

/** The cells of a picture column in order. No more than one row group is in memory. */
export async function* pictureCells(path: string, column: string): AsyncGenerator<PictureCell> {
  const metadata = await asParquet(path, () => metadataOf(path));
  let start = 0;
  for (const group of metadata.row_groups) {
    const end = start + Number(group.num_rows);
    const size = group.columns
      .filter(({ meta_data }) => meta_data?.path_in_schema[0] === column)
      .reduce((sum, { meta_data }) => sum + Number(meta_data!.total_uncompressed_size), 0);
    if (size > LARGEST_ROW_GROUP) {
      throw new InputError(`${path} has ${size} bytes of pictures in one row group`, {
        hint: `at most ${LARGEST_ROW_GROUP} can be read: write it with smaller row groups (100 rows, say)`,
      });
    }
    const [rowStart, rowEnd] = [start, end];
    const rows = await asParquet(path, async () =>
      parquetReadObjects({
        file: await asyncBufferFromFile(path),
        metadata,
        columns: [column],
        rowStart,
        rowEnd,
        compressors,
        // The bytes of a picture are no text.
        utf8: false,
      }),
    );
    for (const [i, cells] of rows.entries()) yield { row: start + i + 1, ...pictureOf(cells[column]) };
    start = end;
  }
}

const metadataOf = async (path: string): Promise<FileMetaData> =>
  parquetMetadataAsync(await asyncBufferFromFile(path));

async function asParquet<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const known = asStorageError(error, `reading ${path}`);
    if (known !== error || error instanceof InputError) throw known;
    throw new InputError(`${path} can't be read as Parquet: ${(error as Error).message}`, {
      hint: 'the file may have been cut while it was copied, or be compressed with what Node lacks: write it again',
      cause: error,
    });
  }
}

const isRawBytes = ({ element }: SchemaTree): boolean =>
  element.type === 'BYTE_ARRAY' &&
  !['UTF8', 'JSON', 'ENUM'].includes(element.converted_type ?? '') &&
  element.logical_type === undefined;

const hasBytes = (column: SchemaTree): boolean => isRawBytes(column) || column.children.some(hasBytes);

const isPicture = (column: SchemaTree): boolean =>
  isRawBytes(column) ||
  (column.element.repetition_type !== 'REPEATED' &&
    column.children.some((child) => child.element.name === 'bytes' && isRawBytes(child)));

function pictureOf(cell: unknown): Pick<PictureCell, 'bytes' | 'path'> {
  if (cell instanceof Uint8Array) return { bytes: cell, path: null };
  const { bytes, path } = (cell ?? {}) as { bytes?: unknown; path?: unknown };
  return {
    bytes: bytes instanceof Uint8Array && bytes.length > 0 ? bytes : null,
    path: typeof path === 'string' && path !== '' ? path : null,
  };
}
