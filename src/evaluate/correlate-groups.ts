import { basename, extname } from 'node:path';
import { InputError, listNames } from '../core/index.ts';
import type { Table } from './tables/index.ts';

/** Names of data sets where no column says them: file names without extension, or whole paths if those collide. */
export function datasetNames(paths: readonly string[]): string[] {
  const names = paths.map((path) => basename(path, extname(path)));
  return new Set(names).size === names.length ? names : [...paths];
}

/** Reads the group of a row, from the predictions, from the labels, or from what the name implies. */
export type GroupReader = (row: number, labelRow: number) => string;

/**
 * Where a grouping comes from: a column of the predictions, else of the labels. "dataset" falls back to the given
 * name of the file, "distortion" to the main true distortion of our own predictions. Anything else that is absent is an InputError.
 */
export function groupReader(
  by: string | undefined,
  table: Table,
  labels: Table | null,
  dataset: string,
): GroupReader {
  if (by === undefined) return () => '';
  const own = table.cells.get(by);
  if (own !== undefined) return (row) => text(own[row]);
  const joined = labels?.cells.get(by);
  if (joined !== undefined) return (_, labelRow) => text(joined[labelRow]);
  const truth = table.cells.get('distortionsTrue');
  if (by === 'distortion' && truth !== undefined) return (row) => mainDistortion(truth[row]);
  if (by === 'dataset') return () => dataset;
  const found = [...new Set([...table.columns, ...(labels?.columns ?? [])])];
  throw new InputError(`${table.path} has no column "${by}" to group by`, {
    hint: `columns found: ${listNames(found, 30)}`,
  });
}

const text = (cell: unknown): string => {
  const value = cell === null || cell === undefined ? '' : String(cell).trim();
  return value === '' ? '(empty)' : value;
};

/** The main distortion comes first; pristine pictures have none, and unknown ones no list. */
function mainDistortion(cell: unknown): string {
  if (!Array.isArray(cell)) return '(unknown)';
  const [first] = cell as { type?: unknown }[];
  return first === undefined ? 'none' : text(first.type);
}
