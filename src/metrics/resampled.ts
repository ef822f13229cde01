import { countExchanges, pairsOf, tauFromCounts, tiedPairs } from './krcc.ts';
import { denseRanks, spread } from './ranks.ts';
import type { Numbers } from './result.ts';

/**
 * A statistic of a resample of n pairs, where pair i occurs weights[i] times and the weights sum to n.
 * Undefined where the resample has no variance. Ranks are prepared once, so that a resample of SRCC costs
 * O(n) and not a sort.
 */
export type ResampledStatistic = (weights: Int32Array) => number | undefined;

export function resampledPlcc(scores: Numbers, targets: Numbers): ResampledStatistic {
  return (weights) => weightedPearson(scores, targets, weights);
}

export function resampledSrcc(scores: Numbers, targets: Numbers): ResampledStatistic {
  const x = denseRanks(scores);
  const y = denseRanks(targets);
  return (weights) => {
    const rankX = averageRankOfLevels(x.rank, x.levels, weights);
    const rankY = averageRankOfLevels(y.rank, y.levels, weights);
    return weightedPearson(spread(rankX, x.rank), spread(rankY, y.rank), weights);
  };
}

export function resampledKrcc(scores: Numbers, targets: Numbers): ResampledStatistic {
  const n = scores.length;
  const x = denseRanks(scores);
  const y = denseRanks(targets);
  const joint = denseRanks(Float64Array.from(x.rank, (level, i) => level * y.levels + y.rank[i]!));
  const order = Uint32Array.from({ length: n }, (_, i) => i).sort((i, j) => joint.rank[i]! - joint.rank[j]!);
  const ordered = new Int32Array(n);
  return (weights) => {
    const countX = new Int32Array(x.levels);
    const countY = new Int32Array(y.levels);
    const countBoth = new Int32Array(joint.levels);
    let at = 0;
    for (const i of order) {
      const weight = weights[i]!;
      countX[x.rank[i]!]! += weight;
      countY[y.rank[i]!]! += weight;
      countBoth[joint.rank[i]!]! += weight;
      ordered.fill(y.rank[i]!, at, at + weight);
      at += weight;
    }
    const pairs = pairsOf(at);
    const tiedX = tiedPairs(countX);
    const tiedY = tiedPairs(countY);
    if (tiedX === pairs || tiedY === pairs) return undefined;
    const discordant = countExchanges(ordered.subarray(0, at));
    return tauFromCounts({ pairs, tiedX, tiedY, tiedBoth: tiedPairs(countBoth), discordant });
  };
}

export function resampledRmse(scores: Numbers, targets: Numbers): ResampledStatistic {
  const mean = resampledMean(Float64Array.from(scores, (score, i) => (score - targets[i]!) ** 2));
  return (weights) => {
    const value = mean(weights);
    return value === undefined ? undefined : Math.sqrt(value);
  };
}

export function resampledMae(scores: Numbers, targets: Numbers): ResampledStatistic {
  return resampledMean(Float64Array.from(scores, (score, i) => Math.abs(score - targets[i]!)));
}

export function resampledMean(values: Numbers): ResampledStatistic {
  return (weights) => {
    let sum = 0;
    let total = 0;
    for (let i = 0; i < weights.length; i++) {
      sum += weights[i]! * values[i]!;
      total += weights[i]!;
    }
    return total === 0 ? undefined : sum / total;
  };
}

/** The paired difference `candidate - baseline` of one statistic on the same resample. */
export function resampledDifference(
  baseline: ResampledStatistic,
  candidate: ResampledStatistic,
): ResampledStatistic {
  return (weights) => {
    const from = baseline(weights);
    const to = candidate(weights);
    return from === undefined || to === undefined ? undefined : to - from;
  };
}

function averageRankOfLevels(rank: Int32Array, levels: number, weights: Int32Array): Float64Array {
  const ranks = new Float64Array(levels);
  for (let i = 0; i < rank.length; i++) ranks[rank[i]!]! += weights[i]!;
  let before = 0;
  for (let level = 0; level < levels; level++) {
    const count = ranks[level]!;
    ranks[level] = before + (count + 1) / 2;
    before += count;
  }
  return ranks;
}

function weightedPearson(x: Numbers, y: Numbers, weights: Int32Array): number | undefined {
  let total = 0;
  let meanX = 0;
  let meanY = 0;
  // A constant resample is recognised by its values: its computed variance need not be exactly 0.
  let [minX, maxX, minY, maxY] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < weights.length; i++) {
    const weight = weights[i]!;
    if (weight === 0) continue;
    const xi = x[i]!;
    const yi = y[i]!;
    total += weight;
    meanX += weight * xi;
    meanY += weight * yi;
    if (xi < minX) minX = xi;
    if (xi > maxX) maxX = xi;
    if (yi < minY) minY = yi;
    if (yi > maxY) maxY = yi;
  }
  if (!(maxX > minX && maxY > minY)) return undefined;
  meanX /= total;
  meanY /= total;
  let xx = 0;
  let yy = 0;
  let xy = 0;
  for (let i = 0; i < weights.length; i++) {
    const weight = weights[i]!;
    if (weight === 0) continue;
    const dx = (x[i]! - meanX) / (maxX - minX);
    const dy = (y[i]! - meanY) / (maxY - minY);
    xx += weight * dx * dx;
    yy += weight * dy * dy;
    xy += weight * dx * dy;
  }
  return Math.max(-1, Math.min(1, xy / Math.sqrt(xx * yy)));
}
