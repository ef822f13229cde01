import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { precisionRecall, proportion, wilsonInterval } from '../../src/metrics/index.ts';

// Recorded by scripts/reference/record-scipy.py.
const { wilson } = JSON.parse(readFileSync(new URL('fixtures/scipy.json', import.meta.url), 'utf8')) as {
  wilson: [number, number, number, number, number][];
};

describe('Wilson interval', () => {
  it.each(wilson)('of %i of %i at %f, as scipy', (count, of, level, low, high) => {
    const interval = wilsonInterval(count, of, level);
    if (interval.status !== 'ok') throw new Error(interval.detail);
    expect(interval.low).toBeCloseTo(low, 10);
    expect(interval.high).toBeCloseTo(high, 10);
  });
  it('of none of n is 0 to z^2 / (n + z^2)', () => {
    const z2 = 3.841458820694124; // The 95 % quantile of chi-square with one degree of freedom.
    const interval = wilsonInterval(0, 20);
    if (interval.status !== 'ok') throw new Error(interval.detail);
    expect(interval.low).toBe(0);
    expect(interval.high).toBeCloseTo(z2 / (20 + z2), 12);
  });
  it('of 0 of 0 has no value', () =>
    expect(wilsonInterval(0, 0)).toMatchObject({ reason: 'nothing-to-count' }));
  it.each([
    [3, 2],
    [-1, 2],
    [0.5, 2],
    [Number.NaN, 2],
  ])('refuses %f of %i', (count, of) =>
    expect(() => wilsonInterval(count, of)).toThrow('allowed are whole numbers'),
  );
  it('refuses a level in percent', () => expect(() => wilsonInterval(1, 2, 95)).toThrow('0 < level < 1'));
});

describe('proportion', () => {
  it('is the count by the total', () =>
    expect(proportion(3, 4, 'thing')).toMatchObject({ count: 3, of: 4, rate: { value: 0.75 } }));
  it('of nothing names what is missing', () =>
    expect(proportion(0, 0, 'distorted picture').rate).toEqual({
      status: 'undefined-because',
      reason: 'nothing-to-count',
      detail: 'no distorted picture',
    }));
});

describe('precision, recall and F1', () => {
  it('of 6 right, 2 false alarms and 4 misses', () => {
    const { precision, recall, f1 } = precisionRecall({
      truePositives: 6,
      falsePositives: 2,
      falseNegatives: 4,
    });
    expect(precision.rate).toEqual({ status: 'ok', value: 0.75 });
    expect(recall.rate).toEqual({ status: 'ok', value: 0.6 });
    // Harmonic mean 2 * 0.75 * 0.6 / 1.35 = 2 / 3.
    expect(f1.status === 'ok' && f1.value).toBeCloseTo(2 / 3, 14);
  });
  it('F1 interval is that of 6 of 12 in J, mapped by 2 J / (1 + J)', () => {
    // At p = 1 / 2 Wilson's interval is 1 / 2 +- z / (2 sqrt(n + z^2)).
    const { f1Interval } = precisionRecall({ truePositives: 6, falsePositives: 2, falseNegatives: 4 });
    if (f1Interval.status !== 'ok') throw new Error(f1Interval.detail);
    const reach = Math.sqrt(3.841458820694124 / (4 * (12 + 3.841458820694124)));
    expect(f1Interval.low).toBeCloseTo((2 * (0.5 - reach)) / (1.5 - reach), 10);
    expect(f1Interval.high).toBeCloseTo((2 * (0.5 + reach)) / (1.5 + reach), 10);
  });
  it('nothing named: recall 0, F1 0, precision without a value', () => {
    const { precision, recall, f1 } = precisionRecall({
      truePositives: 0,
      falsePositives: 0,
      falseNegatives: 5,
    });
    expect(precision.rate).toMatchObject({ reason: 'nothing-to-count', detail: 'no thing named' });
    expect(recall.rate).toEqual({ status: 'ok', value: 0 });
    expect(f1).toEqual({ status: 'ok', value: 0 });
  });
  it('nothing named or present: none has a value', () => {
    const all = precisionRecall({ truePositives: 0, falsePositives: 0, falseNegatives: 0 });
    expect([all.precision.rate, all.recall.rate, all.f1, all.f1Interval].map(({ status }) => status)).toEqual(
      Array(4).fill('undefined-because'),
    );
  });
  it('refuses a negative count', () =>
    expect(() => precisionRecall({ truePositives: 2, falsePositives: -1, falseNegatives: 0 })).toThrow(
      RangeError,
    ));
});
