import { createHash } from 'node:crypto';
import { isOwn } from './correlate-input.ts';
import { type RunProvenance, readProvenance } from './read-predictions-provenance.ts';
import type { Table } from './tables/index.ts';

/** How each table of our own predictions was made. What is unknown is a notice. */
export async function runProvenance(
  tables: readonly Table[],
): Promise<{ runs: RunProvenance[]; notices: string[] }> {
  const runs: RunProvenance[] = [];
  const notices: string[] = [];
  for (const table of tables.filter(isOwn)) {
    const found = await readProvenance(table.path, table.places.length + table.broken.length);
    notices.push(...found.notices);
    if (found.run !== null) runs.push(found.run);
  }
  return { runs, notices };
}

/** SHA-256 of the sorted ids, one a line: equal for two measurements on the same images. */
export const hashOfIds = (ids: readonly string[]): string =>
  createHash('sha256')
    .update(
      [...ids]
        .sort()
        .map((id) => `${id}\n`)
        .join(''),
    )
    .digest('hex');
