import { parquetWriteBuffer } from 'hyparquet-writer';

/** Columns of numbers; all others are text. */
const NUMBERS = new Set(['mos', 'mos_std', 'source_mos', 'source_low', 'source_high', 'level']);

/** Rows as a Parquet file: 64-bit floats and UTF-8 text, null where a row has no value, Snappy. */
export function toParquet(rows: readonly Readonly<Record<string, unknown>>[]): Uint8Array {
  const names = Object.keys(rows[0] ?? {});
  const columnData = names.map((name) => ({
    name,
    data: rows.map((row) => row[name] ?? null),
    type: NUMBERS.has(name) ? ('DOUBLE' as const) : ('STRING' as const),
    nullable: true,
  }));
  return new Uint8Array(parquetWriteBuffer({ columnData }));
}
