import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import { averageRanks } from '../../src/metrics/index.ts';
import { ascendingOrder, orderByWord } from '../../src/metrics/sorting.ts';

describe('ascendingOrder', () => {
  it('orders negatives, tiny, huge and both zeros; ties stay as given', () => {
    const values = [3, -0, 1e300, -1e300, 0, 5e-324, -5e-324, -2, 3];
    expect([...ascendingOrder(values)]).toEqual([3, 7, 6, 1, 4, 5, 0, 8, 2]);
  });
  it.each([0, 1, 2, 1000, 16383, 16384, 40000])('equals a comparison sort of %i values with ties', (n) => {
    const rng = new Rng(n);
    const values = Array.from({ length: n }, () =>
      rng.uniform() < 0.5 ? rng.integer(50) - 25 : rng.normal(),
    );
    const expected = values.map((_, i) => i).sort((a, b) => values[a]! - values[b]! || a - b);
    expect([...ascendingOrder(values)]).toEqual(expected);
  });
});

it('orderByWord leaves the order it is given untouched', () => {
  const order = Uint32Array.of(2, 1, 0);
  expect([...orderByWord(Uint32Array.of(70000, 3, 70000), order)]).toEqual([1, 2, 0]);
  expect([...order]).toEqual([2, 1, 0]);
});

it('averageRanks gives tied values the mean of their ranks', () => {
  expect([...averageRanks([10, 20, 10, 10, -1])]).toEqual([3, 5, 3, 3, 1]);
});
