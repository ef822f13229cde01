import type { Cells } from './table.ts';

const STEP = /([^.[\]]+)|\[(-?\d+)\]/g;

/**
 * The cell of this name, or else what lies at this path: `images[0]`, `conversations[-1].value`. Undefined where
 * there is none. Names with dots or brackets in them win over paths.
 */
export function cellAt(cells: Cells, path: string): unknown {
  if (Object.hasOwn(cells, path)) return cells[path];
  let value: unknown = cells;
  for (const [, name, index] of path.matchAll(STEP)) {
    if (index !== undefined) value = Array.isArray(value) ? value.at(Number(index)) : undefined;
    else value = isObject(value) && Object.hasOwn(value, name!) ? value[name!] : undefined;
    if (value === undefined || value === null) return undefined;
  }
  return value;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A cell as text, surrounding white space removed; undefined where it is empty, a list or an object. */
export function textOf(cell: unknown): string | undefined {
  if (typeof cell === 'string') return cell.trim() === '' ? undefined : cell.trim();
  if (typeof cell === 'number' || typeof cell === 'bigint') return String(cell);
  return undefined;
}

/** Decimal numbers only: JavaScript would read 0x10 as 16 and an empty cell as 0. */
const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** A cell as a finite number; undefined where it is none. True is not 1, and a decimal comma is not a point. */
export function numberOf(cell: unknown): number | undefined {
  const text = textOf(cell);
  const value = text !== undefined && DECIMAL.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
}
