import type { Rng } from '../../core/index.ts';
import type { ImageRecord, Split } from '../records.ts';

type Grouped = Pick<ImageRecord, 'group' | 'reference' | 'mos'>;

/**
 * Indices of records that must share a split: those of one group, one reference or one content, and those joined by a
 * third. `contents` names the bytes of each image, null where they are not known.
 */
export function bundlesOf(
  records: readonly Pick<Grouped, 'group' | 'reference'>[],
  contents: readonly (string | null)[] = [],
): number[][] {
  const parents = records.map((_, i) => i);
  const rootOf = (i: number): number => {
    let at = i;
    while (parents[at] !== at) at = parents[at]!;
    parents[i] = at;
    return at;
  };
  const firstOf = new Map<string, number>();
  for (const [i, { group, reference }] of records.entries()) {
    const content = contents[i] ?? null;
    const keys = [
      `group ${group}`,
      ...(reference === undefined ? [] : [`reference ${reference}`]),
      ...(content === null ? [] : [`content ${content}`]),
    ];
    for (const key of keys) {
      const first = firstOf.get(key);
      if (first === undefined) firstOf.set(key, i);
      else {
        const [a, b] = [rootOf(first), rootOf(i)];
        parents[Math.max(a, b)] = Math.min(a, b);
      }
    }
  }
  const bundles = new Map<number, number[]>();
  for (const i of records.keys()) {
    const root = rootOf(i);
    const members = bundles.get(root);
    if (members === undefined) bundles.set(root, [i]);
    else members.push(i);
  }
  return [...bundles.values()];
}

export interface Shares {
  test: number;
  validation: number;
  strata: number;
}

/**
 * Draws a split: whole bundles go to test until their number of images is as near to the share as bundles allow,
 * then to validation (a share of the rest), the others to train. With strata this holds in every band of mean MOS.
 */
export function drawSplit(
  records: readonly Grouped[],
  bundles: readonly number[][],
  { test, validation, strata }: Shares,
  rng: Rng,
): Split[] {
  const splits: Split[] = records.map(() => 'train');
  const bands = bandsByMos(records, bundles, strata).map((band) => rng.shuffle(band));
  const rest = take(bands, test, (i) => {
    splits[i] = 'test';
  });
  take(rest, validation, (i) => {
    splits[i] = 'validation';
  });
  return splits;
}

/** Takes a share of the images, band by band; what one band misses of it the next makes up. Returns what is left. */
function take(
  bands: readonly (readonly number[][])[],
  share: number,
  assign: (i: number) => void,
): number[][][] {
  let wanted = 0;
  let taken = 0;
  return bands.map((band) => {
    wanted += share * band.reduce((sum, bundle) => sum + bundle.length, 0);
    return band.filter((bundle) => {
      const isNearer = Math.abs(taken + bundle.length - wanted) < Math.abs(taken - wanted);
      if (!isNearer) return true;
      taken += bundle.length;
      for (const i of bundle) assign(i);
      return false;
    });
  });
}

/** Bundles by mean MOS in bands of (nearly) equally many; bundles without a MOS make a band of their own. */
function bandsByMos(
  records: readonly Grouped[],
  bundles: readonly number[][],
  strata: number,
): (readonly number[][])[] {
  if (strata === 1) return [bundles];
  const rated: { bundle: number[]; mean: number }[] = [];
  const unrated: number[][] = [];
  for (const bundle of bundles) {
    const scores = bundle.flatMap((i) => records[i]!.mos ?? []);
    if (scores.length === 0) unrated.push(bundle);
    else rated.push({ bundle, mean: scores.reduce((sum, score) => sum + score, 0) / scores.length });
  }
  rated.sort((a, b) => a.mean - b.mean);
  const bands = Array.from({ length: strata }, (_, band) =>
    rated
      .slice(Math.floor((band * rated.length) / strata), Math.floor(((band + 1) * rated.length) / strata))
      .map(({ bundle }) => bundle),
  );
  return [...bands, unrated];
}
