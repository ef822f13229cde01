import type { Numbers } from './result.ts';
import { ascendingOrder } from './sorting.ts';

/** Ranks without gaps: equal values share a rank, ranks run 0 .. levels - 1 in ascending order of value. */
export interface DenseRanks {
  rank: Int32Array;
  levels: number;
  /** How many values each rank has. */
  count: Int32Array;
  /** Indices of the values in ascending order, equal values as given. */
  order: Uint32Array;
}

/** Dense ranks of finite values. */
export function denseRanks(values: Numbers): DenseRanks {
  const n = values.length;
  const rank = new Int32Array(n);
  const count = new Int32Array(n);
  let levels = 0;
  let previous = Number.NaN;
  const order = ascendingOrder(values);
  for (let at = 0; at < n; at++) {
    const i = order[at]!;
    const value = values[i]!;
    if (value !== previous) levels++;
    previous = value;
    rank[i] = levels - 1;
    count[levels - 1]!++;
  }
  return { rank, levels, count: count.slice(0, levels), order };
}

/** Ranks 1 .. n; tied values all get the mean of the ranks they span (the convention of Spearman with ties). */
export function averageRanks(values: Numbers): Float64Array {
  return averageOfTied(denseRanks(values));
}

export function averageOfTied({ rank, levels, count }: DenseRanks): Float64Array {
  const mean = new Float64Array(levels);
  let before = 0;
  for (let level = 0; level < levels; level++) {
    mean[level] = before + (count[level]! + 1) / 2;
    before += count[level]!;
  }
  return spread(mean, rank);
}

/** The value of each rank, laid out by `rank`. A loop: the `from` of typed arrays is many times slower. */
export function spread(valueOfRank: Float64Array, rank: Int32Array): Float64Array {
  const values = new Float64Array(rank.length);
  for (let i = 0; i < rank.length; i++) values[i] = valueOfRank[rank[i]!]!;
  return values;
}
