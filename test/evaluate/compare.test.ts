import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import { compare, type Prediction } from '../../src/evaluate/index.ts';
import { prediction } from './prediction-factory.ts';

const quick = { resamples: 300 };
const mosOf = (i: number): number => 1 + (4 * ((i * 37) % 101)) / 100;

/** Scores = MOS + noise, the noise seeded by name. */
function noisy(name: string, noise: number, n = 100, seed?: number): Prediction[] {
  const rng = new Rng(`${name} ${seed}`);
  return Array.from({ length: n }, (_, i) =>
    prediction(`i${i}`, mosOf(i), mosOf(i) + rng.normal(0, noise), seed === undefined ? {} : { seed }),
  );
}

const valueOfMetric = (metric: { status: string; value?: number }): number => metric.value ?? Number.NaN;

describe('compare', () => {
  it('finds no difference of a model with itself, whatever the order of rows', () => {
    const rows = noisy('a', 1);
    const { srcc, plcc, images } = compare(rows, rows.toReversed(), quick);
    expect(images).toBe(100);
    expect(srcc.difference).toEqual({ status: 'ok', value: 0 });
    expect(srcc.interval).toMatchObject({ low: 0, high: 0 });
    expect(plcc.interval).toMatchObject({ low: 0, high: 0 });
  });

  it('is candidate minus baseline', () => {
    // Ranks of the baseline are reversed, SRCC -1; the candidate is perfect, SRCC 1.
    const rows = Array.from({ length: 10 }, (_, i) => i);
    const { srcc } = compare(
      rows.map((i) => prediction(`i${i}`, i, -i)),
      rows.map((i) => prediction(`i${i}`, i, i)),
      quick,
    );
    expect(srcc.difference).toEqual({ status: 'ok', value: expect.closeTo(2, 12) as number });
  });

  it('has an interval above 0 for a clearly better candidate and around 0 for an equal one', () => {
    const { srcc: better } = compare(noisy('a', 1.5), noisy('b', 0.3), quick);
    const { srcc: equal } = compare(noisy('a', 1), noisy('b', 1), quick);
    if (better.interval.status !== 'ok' || equal.interval.status !== 'ok') throw new Error('no interval');
    expect(better.interval.low).toBeGreaterThan(0);
    expect(equal.interval.low).toBeLessThan(0);
    expect(equal.interval.high).toBeGreaterThan(0);
  });

  it('pools seeds: the difference is the mean of the differences of each seed', () => {
    const seeds = [1, 2, 3];
    const all = (name: string, noise: number) => seeds.flatMap((seed) => noisy(name, noise, 60, seed));
    const pooled = compare(all('a', 1), all('b', 0.5), quick);
    const single = seeds.map((seed) =>
      valueOfMetric(compare(noisy('a', 1, 60, seed), noisy('b', 0.5, 60, seed), quick).srcc.difference),
    );
    expect(pooled.seeds).toEqual(seeds);
    expect(pooled.srcc.perSeed).toHaveLength(3);
    expect(valueOfMetric(pooled.srcc.difference)).toBeCloseTo((single[0]! + single[1]! + single[2]!) / 3, 12);
  });

  it('uses only seeds that both sides have', () => {
    const { seeds } = compare(
      [...noisy('a', 1, 30, 1), ...noisy('a', 1, 30, 2)],
      [...noisy('b', 1, 30, 2), ...noisy('b', 1, 30, 3)],
      quick,
    );
    expect(seeds).toEqual([2]);
  });

  const [first, second, third, fourth] = [1, 2, 3, 4].map((mos) => prediction(`i${mos}`, mos, mos));
  const whole = [first!, second!, third!, fourth!];
  const withGap = [first!, second!, third!, prediction('i4', 4, null)];

  it('drops an image without a score from both sides, and counts it', () => {
    const comparison = compare(whole, withGap, quick);
    expect(comparison).toMatchObject({ images: 3, dropped: 1, unmatched: 0 });
    expect(comparison.srcc.difference).toEqual({ status: 'ok', value: 0 });
  });

  it('reads it as the far end of the scale when asked to', () => {
    // Scores 1 2 3 1 against 1 2 3 4: ranks 1.5 3 4 1.5, r = 0.5 / sqrt(4.5 * 5).
    const comparison = compare(whole, withGap, { ...quick, failures: 'worst' });
    expect(comparison.images).toBe(4);
    expect(valueOfMetric(comparison.srcc.candidate)).toBeCloseTo(0.5 / Math.sqrt(22.5), 12);
  });

  it('counts images that only one side has', () => {
    expect(compare(whole, whole.slice(0, 3), quick)).toMatchObject({ images: 3, unmatched: 1 });
  });

  it('says why there is no difference for a constant candidate', () => {
    const constant = whole.map((row) => ({ ...row, score: 3 }));
    const { srcc } = compare(whole, constant, quick);
    expect(srcc.difference).toMatchObject({ status: 'undefined-because', reason: 'constant-scores' });
    expect(srcc.interval).toMatchObject({ reason: 'constant-scores' });
  });

  it('refuses sides without a common seed, without a common image, or with different MOS', () => {
    expect(() => compare(noisy('a', 1, 5, 1), noisy('b', 1, 5, 2))).toThrow(
      'baseline has 1, candidate has 2',
    );
    expect(() => compare([first!], [second!])).toThrow('no image in common');
    expect(() => compare([first!], [{ ...first!, mos: 3 }])).toThrow('image i1 has different MOS');
    expect(() => compare([], [])).toThrow('share no seed');
  });
});
