import { readFile } from 'node:fs/promises';

export interface PredictionRow {
  id: string;
  mos: number;
  score: number | null;
}

export async function readRows(path: string): Promise<PredictionRow[]> {
  const text = await readFile(path, 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as PredictionRow);
}

/** Mean rank of each value, counted from the definition: how many are below, and half of the equal ones. */
const ranks = (values: readonly number[]): number[] =>
  values.map(
    (value) =>
      values.filter((other) => other < value).length +
      (values.filter((other) => other === value).length + 1) / 2,
  );

/** Spearman's correlation from its definition: Pearson's of the ranks. */
export function spearman(a: readonly number[], b: readonly number[]): number {
  const [x, y] = [ranks(a), ranks(b)];
  const mean = (a.length + 1) / 2;
  const product = (left: readonly number[], right: readonly number[]): number =>
    left.reduce((sum, value, i) => sum + (value - mean) * (right[i]! - mean), 0);
  return product(x, y) / Math.sqrt(product(x, x) * product(y, y));
}
