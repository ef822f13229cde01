import type { SkippedRow } from './skipped.ts';

export type CellProblem = Pick<SkippedRow, 'kind' | 'found'>;

const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const NOT_FINITE = /^[+-]?(nan|inf|infinity)$/i;

/**
 * The finite number in a cell, or what the cell holds instead. A decimal number written as text is a number; an
 * empty cell is not 0, a decimal comma is not a point, and true is not 1.
 */
export function numberOf(cell: unknown): number | CellProblem {
  if (typeof cell === 'number')
    return Number.isFinite(cell) ? cell : { kind: 'not-finite', found: `${cell}` };
  if (typeof cell === 'bigint') return Number(cell);
  if (cell === null || cell === undefined) return { kind: 'empty', found: '' };
  if (typeof cell !== 'string') return { kind: 'not-a-number', found: shown(cell) };
  const text = cell.trim();
  if (text === '') return { kind: 'empty', found: '' };
  if (NOT_FINITE.test(text)) return { kind: 'not-finite', found: text };
  const value = DECIMAL.test(text) ? Number(text) : Number.NaN;
  if (Number.isFinite(value)) return value;
  return DECIMAL.test(text)
    ? { kind: 'not-finite', found: text }
    : { kind: 'not-a-number', found: shown(text) };
}

const shown = (cell: unknown): string => (JSON.stringify(cell) ?? typeof cell).slice(0, 40);
