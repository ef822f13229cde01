import { InputError } from '../../core/index.ts';
import { readParquetRows } from '../../formats/index.ts';
import { locateColumns } from './columns.ts';
import type { TableContent, WantedColumns } from './table.ts';

/** Reads the wanted columns of a Parquet file. A file without rows is an InputError. */
export async function readParquet(path: string, wanted: WantedColumns): Promise<TableContent> {
  let names: string[] = [];
  const { columns, rows } = await readParquetRows(path, (all) => {
    const found = all.map(({ name }) => name);
    names = [...locateColumns(path, found, wanted).keys()];
    return names;
  });
  if (rows.length === 0) throw new InputError(`${path} is empty`, { hint: 'it has columns and no rows' });
  return {
    columns: columns.map(({ name }) => name),
    unit: 'row',
    places: rows.map((_, i) => i + 1),
    cells: new Map(names.map((name) => [name, rows.map((row) => row[name] ?? null)])),
    broken: [],
  };
}
