import { readParquetRows } from '../../formats/index.ts';
import type { TableContent } from './table.ts';

/** All columns but those of raw bytes, which hold pictures and not labels. */
export async function readParquet(path: string): Promise<TableContent> {
  let columns: string[] = [];
  const { rows } = await readParquetRows(path, (all) => {
    columns = all.filter(({ bytes }) => !bytes).map(({ name }) => name);
    return columns;
  });
  return { columns, rows: rows.map((cells, i) => ({ place: i + 1, cells })) };
}
