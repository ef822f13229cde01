export const TABLE_FORMATS = ['csv', 'jsonl', 'parquet'] as const;
export type TableFormat = (typeof TABLE_FORMATS)[number];

/** A row that could not be read at all, as against one cell that is no number. */
export interface BrokenRow {
  /** Where it is, counted as `Table.unit` says. */
  place: number;
  problem: string;
}

/** Some columns of a file, whatever its format. Cells are as the format gives them: text, numbers, null. */
export interface Table {
  path: string;
  format: TableFormat;
  /** SHA-256 of the file's bytes, hexadecimal. */
  sha256: string;
  /** All columns the file has. */
  columns: string[];
  /** What `places` counts: lines of a text file (from 1, a header is line 1), or rows (from 1). */
  unit: 'line' | 'row';
  /** Place of each row that was read. */
  places: number[];
  /** One list per wanted column that the file has, as long as `places`. */
  cells: ReadonlyMap<string, readonly unknown[]>;
  broken: BrokenRow[];
}

/** Columns to read. One that is required and absent is an InputError; an optional one is then left out. */
export interface WantedColumns {
  required: readonly string[];
  optional: readonly string[];
}

export type TableContent = Pick<Table, 'columns' | 'unit' | 'places' | 'cells' | 'broken'>;
