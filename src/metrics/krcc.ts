import { type DenseRanks, denseRanks } from './ranks.ts';
import { correlationProblem, type Metric, metricValue, type Numbers } from './result.ts';
import { orderByWord } from './sorting.ts';

/**
 * Kendall's tau-b, in [-1, 1], in O(n log n) by Knight's method (W. R. Knight, JASA 61, 1966): order the
 * pairs by score, ties by target; the exchanges a merge sort of the targets then makes are the discordant
 * pairs.
 */
export function krcc(scores: Numbers, targets: Numbers): Metric {
  return correlationProblem(scores, targets) ?? metricValue(tauB(denseRanks(scores), denseRanks(targets)));
}

/** Tau-b of pairs given by their ranks; both sides must vary. */
export function tauB(x: DenseRanks, y: DenseRanks): number {
  const n = x.rank.length;
  // A stable sort keeps the order by target within equal scores.
  const order = orderByWord(new Uint32Array(x.rank.buffer), y.order);
  let tiedBoth = 0;
  for (let i = 1, run = 0; i < n; i++) {
    const same = x.rank[order[i]!] === x.rank[order[i - 1]!] && y.rank[order[i]!] === y.rank[order[i - 1]!];
    run = same ? run + 1 : 0;
    tiedBoth += run;
  }
  return tauFromCounts({
    pairs: pairsOf(n),
    tiedX: tiedPairs(x.count),
    tiedY: tiedPairs(y.count),
    tiedBoth,
    discordant: countExchanges(pick(y.rank, order)),
  });
}

// A loop: the `from` of typed arrays is many times slower.
function pick(values: Int32Array, order: Uint32Array): Int32Array {
  const picked = new Int32Array(order.length);
  for (let i = 0; i < order.length; i++) picked[i] = values[order[i]!]!;
  return picked;
}

interface PairCounts {
  pairs: number;
  tiedX: number;
  tiedY: number;
  tiedBoth: number;
  discordant: number;
}

export function tauFromCounts({ pairs, tiedX, tiedY, tiedBoth, discordant }: PairCounts): number {
  const concordantMinusDiscordant = pairs - tiedX - tiedY + tiedBoth - 2 * discordant;
  const tau = concordantMinusDiscordant / Math.sqrt((pairs - tiedX) * (pairs - tiedY));
  return Math.max(-1, Math.min(1, tau));
}

export const pairsOf = (n: number): number => (n * (n - 1)) / 2;

export function tiedPairs(counts: Numbers): number {
  let total = 0;
  for (let i = 0; i < counts.length; i++) total += pairsOf(counts[i]!);
  return total;
}

/** Number of pairs i < j with values[i] > values[j]. Sorts `values` in place (bottom-up merge sort). */
export function countExchanges(values: Int32Array): number {
  const n = values.length;
  let from: Int32Array = values;
  let to: Int32Array = new Int32Array(n);
  let exchanges = 0;
  for (let width = 1; width < n; width *= 2) {
    for (let start = 0; start < n; start += 2 * width) {
      const middle = Math.min(start + width, n);
      const end = Math.min(start + 2 * width, n);
      let left = start;
      let right = middle;
      for (let at = start; at < end; at++) {
        if (left < middle && (right >= end || from[left]! <= from[right]!)) {
          to[at] = from[left++]!;
        } else {
          exchanges += middle - left;
          to[at] = from[right++]!;
        }
      }
    }
    [from, to] = [to, from];
  }
  if (from !== values) values.set(from);
  return exchanges;
}
