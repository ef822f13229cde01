export const LABEL_FORMATS = ['csv', 'tsv', 'txt', 'json', 'jsonl', 'parquet', 'xlsx', 'mat'] as const;
export type LabelFormat = (typeof LABEL_FORMATS)[number];

/** How a label file is laid out, as far as its name does not say. */
export interface TableLayout {
  /** Default: by the file name's extension. */
  format?: LabelFormat | undefined;
  /** csv, tsv, txt, xlsx: names of the columns, for files without a header row. */
  columns?: readonly string[] | undefined;
  /** csv, tsv, txt, xlsx: row of the header, from 1. Default 1, or none where `columns` is given. */
  headerRow?: number | undefined;
  /** csv: default ","; txt: default any white space. */
  separator?: string | undefined;
  /** xlsx: default the first sheet. */
  sheet?: string | undefined;
  /** json: path of the list of rows in the document; default the document itself. */
  rows?: string | undefined;
}

export type Cells = Readonly<Record<string, unknown>>;

/** One labelled item. Cells are as the format gives them: text, numbers, null, lists. */
export interface LabelRow {
  /** Line of a text file, row of a table or position in a list, from 1. */
  place: number;
  cells: Cells;
  /** What makes the row unreadable, if anything does. */
  problem?: string;
}

export interface TableContent {
  columns: string[];
  rows: LabelRow[];
}

export interface LabelTable extends TableContent {
  path: string;
  format: LabelFormat;
  /** SHA-256 of the file's bytes, hexadecimal. */
  sha256: string;
}
