import { srcc } from '../../metrics/index.ts';
import type { Finding } from './findings.ts';
import type { ImageFacts } from './image-facts.ts';
import { nearPairs } from './near-duplicates.ts';
import type { Row } from './rows.ts';

/** A row and what is known of its image; null where there is none to look at. */
export interface Looked {
  row: Row;
  /** Path as the report shows it. */
  shown: string;
  facts: ImageFacts | null;
}

const finding = (kind: Finding['kind'], message: string, rows: readonly Looked[]): Finding => ({
  kind,
  message,
  ids: rows.map(({ row }) => row.id),
  images: rows.filter(({ facts }) => facts !== null).map(({ row }) => row.path),
});

/** Members by key, in order of first appearance; rows without a key are left out. */
function groupBy(looked: readonly Looked[], keyOf: (one: Looked) => string | null): Map<string, Looked[]> {
  const groups = new Map<string, Looked[]>();
  for (const one of looked) {
    const key = keyOf(one);
    if (key === null) continue;
    const members = groups.get(key);
    if (members === undefined) groups.set(key, [one]);
    else members.push(one);
  }
  return groups;
}

const splitsOf = (members: readonly Looked[]): string[] => [
  ...new Set(members.flatMap(({ row }) => (row.split === null ? [] : [row.split]))),
];

const listed = (members: readonly Looked[]): string => {
  const names = members
    .slice(0, 4)
    .map(({ row }) => (row.split === null ? row.id : `${row.id} (${row.split})`));
  return `${names.join(', ')}${members.length > 4 ? ` and ${members.length - 4} more` : ''}`;
};

export function checkIds(looked: readonly Looked[]): Finding[] {
  const repeated = [...groupBy(looked, ({ row }) => row.id)].filter(([, members]) => members.length > 1);
  return repeated.map(([id, members]) =>
    finding('repeated-id', `${id} stands for ${members.length} images`, members),
  );
}

/** Images of one reference or group must share a split, or the test would know what was trained on. */
export function checkGroups(looked: readonly Looked[]): Finding[] {
  const found: Finding[] = [];
  for (const what of ['group', 'reference'] as const) {
    for (const [name, members] of groupBy(looked, ({ row }) => row[what])) {
      const splits = splitsOf(members);
      if (splits.length < 2) continue;
      const counts = splits.map(
        (split) => `${split} (${members.filter(({ row }) => row.split === split).length})`,
      );
      found.push(finding('group-across-splits', `${what} ${name} lies in ${counts.join(' and ')}`, members));
    }
  }
  return found;
}

/** Files that are equal byte for byte; several rows that name one file count too. */
export function checkDuplicates(looked: readonly Looked[]): Finding[] {
  const groups = groupBy(looked, ({ facts }) =>
    facts === null || facts.sha256 === '' ? null : facts.sha256,
  );
  return [...groups.values()]
    .filter((members) => members.length > 1)
    .map((members) => {
      const across = splitsOf(members).length > 1;
      const message = `equal files: ${listed(members)}`;
      return finding(across ? 'duplicate-across-splits' : 'duplicate', message, members);
    });
}

/**
 * Pictures whose perceptual hashes differ in at most `most` of 64 bits. Members of one group are expected to look
 * alike, and equal files have findings of their own.
 */
export function checkNearDuplicates(looked: readonly Looked[], most: number): Finding[] {
  const isExpected = (i: number, j: number): boolean => {
    const [a, b] = [looked[i]!, looked[j]!];
    const sameSplit = a.row.split === b.row.split;
    const sameGroup = a.row.group !== null && a.row.group === b.row.group;
    return a.facts!.sha256 === b.facts!.sha256 || (sameSplit && sameGroup);
  };
  const hashes = looked.map(({ facts }) => facts?.perceptualHash ?? null);
  return nearPairs(hashes, most, isExpected).map(([i, j, distance]) => {
    const pair = [looked[i]!, looked[j]!];
    const across = splitsOf(pair).length > 1;
    const kind = across ? 'near-duplicate-across-splits' : 'near-duplicate';
    return finding(kind, `${listed(pair)} differ in ${distance} of 64 bits`, pair);
  });
}

export interface DirectionHint {
  images: number;
  /** Rank correlation of the MOS with the sharpness and the contrast of the images; null where it has no value. */
  sharpness: number | null;
  contrast: number | null;
}

const FEWEST = 30;
/** Beyond this negative correlation the scale looks reversed: real sets have positive ones. */
const REVERSED = -0.25;

/** Better images tend to be sharper and of higher contrast. Noise is sharp too, so this is a hint and no more. */
export function checkLabels(looked: readonly Looked[]): {
  findings: Finding[];
  direction: DirectionHint | null;
} {
  const rated = looked.filter(
    ({ row, facts }) => row.mos !== null && facts !== null && facts.sharpness !== null,
  );
  const labels = rated.map(({ row }) => row.mos!);
  if (labels.length > 1 && labels.every((mos) => mos === labels[0])) {
    return {
      findings: [finding('constant-labels', `all ${labels.length} labels are ${labels[0]}`, [])],
      direction: null,
    };
  }
  if (rated.length < FEWEST) return { findings: [], direction: null };
  const direction: DirectionHint = {
    images: rated.length,
    sharpness: correlation(
      rated.map(({ facts }) => facts!.sharpness!),
      labels,
    ),
    contrast: correlation(
      rated.map(({ facts }) => facts!.contrast!),
      labels,
    ),
  };
  const { sharpness, contrast } = direction;
  if (sharpness === null || sharpness >= REVERSED) return { findings: [], direction };
  const message =
    `sharper images have lower scores (SRCC ${sharpness.toFixed(2)} over ${rated.length} images; ` +
    `contrast ${contrast?.toFixed(2) ?? 'none'}): if the scale is DMOS, import it with direction "lower"`;
  return { findings: [finding('direction-hint', message, [])], direction };
}

function correlation(values: readonly number[], labels: readonly number[]): number | null {
  const metric = srcc(values, labels);
  return metric.status === 'ok' ? metric.value : null;
}
