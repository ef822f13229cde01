import { InputError, listNames } from '../../core/index.ts';
import type { LabelRow, TableContent, TableLayout } from './table.ts';

/** A row of cells by position, before it is known what the columns are called. */
export interface PlainRow {
  place: number;
  cells: readonly unknown[];
}

const isEmpty = (cell: unknown): boolean =>
  cell === null || cell === undefined || (typeof cell === 'string' && cell.trim() === '');

/** Gives cells their names. Columns without a name and empty rows are left out, as real label files have both. */
export function nameColumns(
  path: string,
  rows: readonly PlainRow[],
  { columns, headerRow }: TableLayout,
): TableContent {
  const headerAt = headerRow ?? (columns === undefined ? 1 : 0);
  const header = rows.find(({ place }) => place === headerAt);
  if (columns === undefined && header === undefined) {
    throw new InputError(`${path} has no header in row ${headerAt}`, {
      hint: rows.length === 0 ? 'the file is empty: copy or download it again' : 'check headerRow',
    });
  }
  const names = (columns ?? header!.cells).map((cell) =>
    String(cell ?? '')
      .replace(/^\uFEFF/, '')
      .trim(),
  );
  const named = names.filter((name) => name !== '');
  const repeated = [...new Set(named.filter((name, i) => named.indexOf(name) !== i))];
  if (repeated.length > 0) {
    throw new InputError(`${path} has several columns named ${listNames(repeated)}`, {
      hint: 'give every column its own name',
    });
  }
  const body = rows.filter(({ place, cells }) => place > headerAt && !cells.every(isEmpty));
  return { columns: named, rows: body.map((row) => nameCells(row, names)) };
}

function nameCells({ place, cells }: PlainRow, names: readonly string[]): LabelRow {
  const named: Record<string, unknown> = {};
  for (const [i, name] of names.entries()) if (name !== '') named[name] = cells[i] ?? null;
  const surplus = cells.slice(names.length).filter((cell) => !isEmpty(cell));
  if (surplus.length === 0) return { place, cells: named };
  return {
    place,
    cells: named,
    problem: `it has more cells than there are columns: ${listNames(surplus.map(String))}`,
  };
}
