import { InputError, listNames, type Rng } from '../core/index.ts';
import { findDuplicates } from './load.ts';
import type { ImageRecord, Split } from './records.ts';

/** An imported record before its group is known. */
export interface Imported {
  record: ImageRecord;
  /** SHA-256 of the image file. */
  sha256: string;
  /** What the table's group column says; null without one. */
  group: string | null;
}

const SHOWN = 10;

/**
 * Gives every record its group: images with the same name in the group column, or with the same bytes, belong
 * together, and so do those that are joined by a third. A set of such images must lie in one official split;
 * with `allowDuplicates` equal files may lie in several, and are then grouped within each.
 */
export function assignGroups(
  images: readonly Imported[],
  { csv, allowDuplicates, official }: { csv: string; allowDuplicates: boolean; official: boolean },
): void {
  if (official && !allowDuplicates) refuseDuplicates(images, csv);
  const parents = images.map((_, i) => i);
  const rootOf = (i: number): number => {
    let at = i;
    while (parents[at] !== at) at = parents[at]!;
    parents[i] = at;
    return at;
  };
  const firstOf = new Map<string, number>();
  for (const [i, { record, sha256, group }] of images.entries()) {
    const bytes = official ? `bytes ${record.split} ${sha256}` : `bytes ${sha256}`;
    for (const key of group === null ? [bytes] : [bytes, `group ${group}`]) {
      const first = firstOf.get(key);
      if (first === undefined) firstOf.set(key, i);
      else {
        const [a, b] = [rootOf(first), rootOf(i)];
        parents[Math.max(a, b)] = Math.min(a, b);
      }
    }
  }
  const nameOf = new Map<number, string>();
  const taken = new Set<string>();
  for (const [i, { record, sha256, group }] of images.entries()) {
    const root = rootOf(i);
    if (!nameOf.has(root)) {
      const plain = group ?? `sha256:${sha256}`;
      nameOf.set(root, taken.has(plain) ? `${plain} (${record.split})` : plain);
      taken.add(plain);
    }
    record.group = nameOf.get(root)!;
  }
  if (official) refuseSpanningGroups(images, csv);
}

function refuseDuplicates(images: readonly Imported[], csv: string): void {
  const duplicates = findDuplicates(
    images.map(({ record }) => record),
    images.map(({ sha256 }) => sha256),
  );
  if (duplicates.length === 0) return;
  const lines = duplicates
    .slice(0, SHOWN)
    .map(({ ids, splits }) => `  ${listNames(ids)} in ${splits.join(' and ')}`);
  const more = duplicates.length > SHOWN ? [`  ... and ${duplicates.length - SHOWN} more`] : [];
  throw new InputError(
    [
      `${csv} puts ${duplicates.length} image(s) into several splits, equal byte for byte:`,
      ...lines,
      ...more,
    ].join('\n'),
    {
      hint: 'mend the split column, or the test would know what was trained on; to import them all the same: --set allowDuplicates=true',
    },
  );
}

function refuseSpanningGroups(images: readonly Imported[], csv: string): void {
  const splitsOf = new Map<string, Set<Split>>();
  for (const { record } of images) {
    splitsOf.set(record.group, (splitsOf.get(record.group) ?? new Set()).add(record.split));
  }
  const spanning = [...splitsOf].filter(([, splits]) => splits.size > 1);
  if (spanning.length === 0) return;
  const lines = spanning
    .slice(0, SHOWN)
    .map(([group, splits]) => `  group ${group} lies in ${[...splits].join(' and ')}`);
  const more = spanning.length > SHOWN ? [`  ... and ${spanning.length - SHOWN} more`] : [];
  throw new InputError(
    [`${csv} puts ${spanning.length} group(s) into several splits:`, ...lines, ...more].join('\n'),
    { hint: 'mend the split column, or leave out one of groupColumn and splitColumn' },
  );
}

/**
 * Moves about this share of the training images to another split, whole groups at a time, by a seeded shuffle.
 * Never more than the share; a group that does not fit is passed over. Returns how many images were wanted and moved.
 */
export function moveGroups(
  records: readonly ImageRecord[],
  to: Split,
  share: number,
  rng: Rng,
): { wanted: number; moved: number } {
  const groups = new Map<string, ImageRecord[]>();
  for (const record of records) {
    if (record.split !== 'train') continue;
    const members = groups.get(record.group);
    if (members === undefined) groups.set(record.group, [record]);
    else members.push(record);
  }
  const lists = [...groups.values()];
  const wanted = Math.round(share * lists.reduce((sum, list) => sum + list.length, 0));
  let moved = 0;
  for (const list of rng.shuffle(lists)) {
    if (moved === wanted) break;
    if (moved + list.length > wanted) continue;
    for (const record of list) record.split = to;
    moved += list.length;
  }
  return { wanted, moved };
}

/** What is worth knowing about such a move, one sentence at most. */
export function moveNotes(to: Split, share: number, move: ReturnType<typeof moveGroups>): string[] {
  const { wanted, moved } = move;
  if (moved < wanted)
    return [`${to} has ${moved} of the ${wanted} images asked for: no more whole groups fit`];
  return share > 0 && moved === 0 ? [`${to} is empty: there are too few images for a share of ${share}`] : [];
}
