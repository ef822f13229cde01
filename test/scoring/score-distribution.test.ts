import { describe, expect, it } from 'vitest';
import {
  averageDistribution,
  centralInterval,
  compareResults,
  differenceDistribution,
  distributionOfWeights,
  meanOfSamples,
  quantileOf,
  readCompletion,
  type ScoreResult,
  scoreDistribution,
  scoreInterval,
  superiority,
} from '../../src/scoring/index.ts';
import { mergeViews } from '../../src/scoring/merge-views.ts';

const result = (score: number | null, more: Partial<ScoreResult> = {}): ScoreResult => ({
  ...readCompletion({ tokenIds: [], logProbabilities: [], text: '', finishReason: 'stop' }),
  ...(score === null ? {} : { status: 'ok', score, level: 'fair' }),
  ...more,
});
const certain = (score: number, width = 0) => distributionOfWeights([score], [1], width);

describe('a distribution of weights', () => {
  it('is sorted, merges equal values and adds up to 1', () => {
    expect(distributionOfWeights([3, 1, 3], [1, 2, 1])).toEqual({
      scores: [1, 3],
      probabilities: [0.5, 0.5],
      width: 0,
    });
  });
});

describe('quantiles', () => {
  const five = distributionOfWeights([1, 2, 3, 4, 5], [1, 1, 1, 1, 1]);

  it('of bare values are values: the smallest with at least that share at or below', () => {
    expect([0, 0.2, 0.21, 0.5, 0.8, 0.81, 1].map((p) => quantileOf(five, p))).toEqual([1, 1, 2, 3, 4, 5, 5]);
  });

  it('of values that stand for stretches lie inside them in proportion', () => {
    // Even over [2, 4]: the quantile of p is 2 + 2 p.
    const even = distributionOfWeights([2.5, 3.5], [1, 1], 1);
    for (const p of [0, 0.1, 0.5, 0.75, 1]) expect(quantileOf(even, p)).toBeCloseTo(2 + 2 * p, 12);
  });

  it('ten samples: the interval goes from the least to the greatest', () => {
    const samples = distributionOfWeights([2, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 2.7, 2.8, 4], Array(10).fill(1));
    expect(centralInterval(samples)).toEqual({ low: 2, high: 4, level: 0.95 });
  });

  it('of two sure digits: the stretch of that digit but for 2.5 % at each end', () => {
    const digit = (d: number): number[] => Array.from({ length: 10 }, (_, i) => (i === d ? 0 : -1e9));
    const { distribution } = scoreDistribution(
      [-1e9, -1e9, 0, -1e9, -1e9],
      [null, null, digit(4), null, null],
    );
    const { low, high } = scoreInterval(distribution);
    // 3.40 to 3.49, each third digit standing for .01: 3.395 to 3.495.
    expect(low).toBeCloseTo(3.395 + 0.0025, 9);
    expect(high).toBeCloseTo(3.495 - 0.0025, 9);
  });

  it('an interval of scores ends where the scale does', () => {
    expect(scoreInterval(certain(5, 0.1)).high).toBe(5);
    expect(scoreInterval(certain(1, 1)).low).toBe(1);
  });
});

describe('the distribution of a mean of views', () => {
  it('averages quantiles: worst with worst, best with best', () => {
    const average = averageDistribution([
      distributionOfWeights([1, 3], [0.5, 0.5]),
      distributionOfWeights([2, 4, 5], [0.25, 0.5, 0.25]),
    ]);
    // Up to .25: (1 + 2) / 2; to .5: (1 + 4) / 2; to .75: (3 + 4) / 2; then (3 + 5) / 2.
    expect(average.scores).toEqual([1.5, 2.5, 3.5, 4]);
    for (const p of average.probabilities) expect(p).toBeCloseTo(0.25, 12);
  });

  it('of one alone is itself', () => {
    const one = distributionOfWeights([1, 2], [1, 3]);
    expect(averageDistribution([one])).toBe(one);
  });

  it('stays in a merged result only where every view has one', () => {
    const known = result(3, { distribution: certain(3) });
    expect(mergeViews([known, result(4, { distribution: certain(4) })]).distribution).toEqual(certain(3.5));
    expect(mergeViews([known, result(4)])).not.toHaveProperty('distribution');
  });
});

describe('two distributions side by side', () => {
  const a = distributionOfWeights([2, 3], [0.5, 0.5]);
  const b = distributionOfWeights([2, 4], [0.25, 0.75]);

  it('the difference has the mean and the variance of independent ones', () => {
    const { scores, probabilities } = differenceDistribution(a, b);
    const mean = scores.reduce((sum, value, i) => sum + value * probabilities[i]!, 0);
    const square = scores.reduce((sum, value, i) => sum + value ** 2 * probabilities[i]!, 0);
    expect(mean).toBeCloseTo(2.5 - 3.5, 12);
    expect(square - mean ** 2).toBeCloseTo(0.25 + 0.75, 12);
  });

  it('superiority counts ties half', () => {
    // a > b: 3 against 2, .125; equal: 2 against 2, .125.
    expect(superiority(a, b)).toBeCloseTo(0.125 + 0.0625, 12);
    expect(superiority(a, b) + superiority(b, a)).toBeCloseTo(1, 12);
    expect(superiority(a, a)).toBeCloseTo(0.5, 12);
  });

  it('compares scores, and says how sure it is', () => {
    const compared = compareResults(result(2.5, { distribution: a }), result(3.5, { distribution: b }));
    expect(compared).toMatchObject({ better: 'b', difference: -1 });
    expect(compared.interval).toEqual({ low: -2, high: 1, level: 0.95 });
    expect(compared.probability).toBeCloseTo(0.1875, 12);
  });

  it('without distributions there is a difference alone, without a score nothing', () => {
    expect(compareResults(result(4), result(3))).toEqual({ better: 'a', difference: 1, probability: null });
    expect(compareResults(result(3), result(3)).better).toBe('tie');
    expect(compareResults(result(null), result(3))).toEqual({
      better: null,
      difference: null,
      probability: null,
    });
  });
});

it('several samples have a distribution, one has none', () => {
  const both = meanOfSamples([result(2), result(3)]);
  expect(both.distribution).toEqual({ scores: [2, 3], probabilities: [0.5, 0.5], width: 0 });
  expect(meanOfSamples([result(2), result(null)])).not.toHaveProperty('distribution');
});
