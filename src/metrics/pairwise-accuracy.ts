import { denseRanks } from './ranks.ts';
import { type Metric, metricValue, type Numbers, pairProblem, undefinedBecause } from './result.ts';

export interface PairwiseBin {
  /** Bounds of the gap between the two targets: from <= gap < below, or gap > 0 where `from` is 0. */
  from: number;
  /** Null for the last bin, which has no upper bound. */
  below: number | null;
  /** Pairs of images with such a gap. */
  pairs: number;
  /** Of those, how many the scores order as the targets do. */
  agreeing: number;
  /** ... and how many have equal scores. */
  tied: number;
  /** (agreeing + tied / 2) / pairs: a tie is a coin toss. 0.5 for a predictor that knows nothing. */
  accuracy: Metric;
}

export interface PairwiseOptions {
  /** Lower bounds of the bins, rising, from 0 on; default 0, 0.25, 0.5, 1, 2, for targets on the scale 1 to 5. */
  gaps?: readonly number[];
}

export interface PairwiseAccuracy {
  bins: PairwiseBin[];
  /** All pairs whose targets differ by at least the first gap. */
  overall: PairwiseBin;
}

const DEFAULT_GAPS = [0, 0.25, 0.5, 1, 2] as const;
/** MOS are written with few digits: 4.3 - 4.2 is a gap of 0.1, although its double is a little below. */
const ROUNDING = 1e-9;

/**
 * How often the image with the higher target also has the higher score, over all pairs of images, by the gap
 * of their targets. Pairs of equal targets have no right order and are left out. Pairs share images, so no
 * binomial interval holds for them: bootstrap over images instead. O(n log n) for each gap, whatever n.
 */
export function pairwiseAccuracy(
  scores: Numbers,
  targets: Numbers,
  { gaps = DEFAULT_GAPS }: PairwiseOptions = {},
): PairwiseAccuracy {
  if (gaps.length === 0 || gaps.some((gap, i) => !(gap >= 0 && (i === 0 || gap > gaps[i - 1]!)))) {
    throw new RangeError(`gaps: got [${gaps.join(', ')}], allowed are rising numbers from 0 on`);
  }
  const problem = pairProblem(scores, targets, 2);
  const bin = (from: number, below: number | null, counts: PairCounts): PairwiseBin => ({
    from,
    below,
    ...counts,
    accuracy:
      problem ??
      (counts.pairs === 0
        ? undefinedBecause('nothing-to-count', 'no pair of images has targets that far apart')
        : metricValue((counts.agreeing + counts.tied / 2) / counts.pairs)),
  });
  const atLeast =
    problem === undefined ? countPairs(scores, targets, gaps) : gaps.map(() => ({ ...NO_PAIRS }));
  return {
    bins: gaps.map((from, i) =>
      bin(from, gaps[i + 1] ?? null, minus(atLeast[i]!, atLeast[i + 1] ?? NO_PAIRS)),
    ),
    overall: bin(gaps[0]!, null, atLeast[0]!),
  };
}

type PairCounts = Pick<PairwiseBin, 'pairs' | 'agreeing' | 'tied'>;
const NO_PAIRS: PairCounts = { pairs: 0, agreeing: 0, tied: 0 };

const minus = (a: PairCounts, b: PairCounts): PairCounts => ({
  pairs: a.pairs - b.pairs,
  agreeing: a.agreeing - b.agreeing,
  tied: a.tied - b.tied,
});

/** For each gap, the pairs whose targets differ by at least that much. */
function countPairs(scores: Numbers, targets: Numbers, gaps: readonly number[]): PairCounts[] {
  const { rank, levels } = denseRanks(scores);
  const { order } = denseRanks(targets);
  return gaps.map((gap) => {
    // Images enter in the order of their targets, once the gap to the current one is wide enough.
    const entered = new PrefixCounts(levels);
    const counts = { ...NO_PAIRS };
    let next = 0;
    for (let at = 0; at < order.length; at++) {
      const i = order[at]!;
      while (next < at && isApart(targets[i]! - targets[order[next]!]!, gap))
        entered.add(rank[order[next++]!]!);
      const lower = entered.below(rank[i]!);
      counts.pairs += next;
      counts.agreeing += lower;
      counts.tied += entered.below(rank[i]! + 1) - lower;
    }
    return counts;
  });
}

const isApart = (difference: number, gap: number): boolean =>
  gap === 0 ? difference > 0 : difference >= gap - ROUNDING;

/** Counts of ranks with prefix sums in O(log n) (P. M. Fenwick, Software: Practice and Experience 24, 1994). */
class PrefixCounts {
  readonly #tree: Int32Array;

  constructor(levels: number) {
    this.#tree = new Int32Array(levels + 1);
  }

  add(rank: number): void {
    for (let node = rank + 1; node < this.#tree.length; node += node & -node) this.#tree[node]!++;
  }

  /** How many added ranks are below `rank`. */
  below(rank: number): number {
    let sum = 0;
    for (let node = rank; node > 0; node -= node & -node) sum += this.#tree[node]!;
    return sum;
  }
}
