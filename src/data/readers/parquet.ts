import { parquetColumns, readParquetRows } from '../../formats/index.ts';
import type { TableContent } from './table.ts';

/** All columns but those with raw bytes in them, which hold pictures and not labels. */
export async function readParquet(path: string): Promise<TableContent> {
  const { labels } = await parquetColumns(path);
  const { rows } = await readParquetRows(path, () => labels);
  return { columns: labels, rows: rows.map((cells, i) => ({ place: i + 1, cells })) };
}
