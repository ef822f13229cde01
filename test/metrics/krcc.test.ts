import { expect, it } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import { krcc } from '../../src/metrics/index.ts';

/** The definition, pair by pair in O(n^2). */
function tauByDefinition(x: number[], y: number[]): number {
  let [agree, tiedX, tiedY, pairs] = [0, 0, 0, 0];
  for (let i = 0; i < x.length; i++) {
    for (let j = i + 1; j < x.length; j++) {
      pairs++;
      agree += Math.sign(x[i]! - x[j]!) * Math.sign(y[i]! - y[j]!);
      if (x[i] === x[j]) tiedX++;
      if (y[i] === y[j]) tiedY++;
    }
  }
  return agree / Math.sqrt((pairs - tiedX) * (pairs - tiedY));
}

it.each([2, 3, 5, 17, 64, 257])('equals the pairwise definition for %i pairs with many ties', (n) => {
  const rng = new Rng(`krcc ${n}`);
  const x = [0, 1, ...Array.from({ length: n - 2 }, () => rng.integer(6))];
  const y = [1, 0, ...Array.from({ length: n - 2 }, () => rng.integer(9))];
  const tau = krcc(x, y);
  expect(tau.status === 'ok' && tau.value).toBeCloseTo(tauByDefinition(x, y), 12);
});

it('is exact for a million pairs in opposite order', () => {
  const rising = Float64Array.from({ length: 1_000_000 }, (_, i) => i);
  expect(krcc(rising, rising.toReversed())).toEqual({ status: 'ok', value: -1 });
});
