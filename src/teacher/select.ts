import { z } from 'zod';
import { parseAnswer } from '../core/index.ts';
import { runSet, similarity } from './near-duplicates.ts';
import type { ColdStartRow } from './rows.ts';

export const selectionSchema = z.strictObject({
  keep: z
    .enum(['all', 'best', 'diverse'])
    .default('all')
    .describe('of the accepted answers about an image: all; the closest to the MOS; the most different'),
  perImage: z.int().min(1).default(1).describe('answers kept of each image, for best and diverse'),
});
export type Selection = z.infer<typeof selectionSchema>;

const distanceOf = ({ score, mos }: ColdStartRow): number =>
  score === null ? Number.POSITIVE_INFINITY : Math.abs(score - mos);

/** Closest to the MOS first; equal distances keep their order. */
const byDistance = (rows: readonly ColdStartRow[]): ColdStartRow[] =>
  [...rows].sort((a, b) => distanceOf(a) - distanceOf(b));

/**
 * Greedy max-min choice (Gonzalez 1985): the row closest to the MOS, then again and again the row whose reasoning
 * has the least similarity to the nearest one chosen. Ties go to the row closer to the MOS.
 */
function mostDiverse(rows: readonly ColdStartRow[], count: number): ColdStartRow[] {
  const left = byDistance(rows).map((row) => ({
    row,
    runs: runSet(parseAnswer(row.response).reasoning ?? ''),
    nearest: 0,
  }));
  const chosen = left.splice(0, 1);
  while (chosen.length < count && left.length > 0) {
    const last = chosen.at(-1)!;
    for (const one of left) one.nearest = Math.max(one.nearest, similarity(one.runs, last.runs));
    const next = left.reduce((best, one) => (one.nearest < best.nearest ? one : best));
    left.splice(left.indexOf(next), 1);
    chosen.push(next);
  }
  return chosen.map(({ row }) => row);
}

function byImage(rows: readonly ColdStartRow[]): Iterable<ColdStartRow[]> {
  const groups = new Map<string, ColdStartRow[]>();
  for (const row of rows) {
    const group = groups.get(row.id);
    if (group === undefined) groups.set(row.id, [row]);
    else group.push(row);
  }
  return groups.values();
}

/** Splits accepted rows into those to learn from and the others. Both keep the order in which they came. */
export function selectRows(
  rows: readonly ColdStartRow[],
  { keep, perImage }: Selection,
): { selected: ColdStartRow[]; others: ColdStartRow[] } {
  if (keep === 'all') return { selected: [...rows], others: [] };
  const chosen = new Set<ColdStartRow>();
  for (const ofImage of byImage(rows)) {
    const best = keep === 'best' ? byDistance(ofImage).slice(0, perImage) : mostDiverse(ofImage, perImage);
    for (const row of best) chosen.add(row);
  }
  return {
    selected: rows.filter((row) => chosen.has(row)),
    others: rows.filter((row) => !chosen.has(row)),
  };
}
