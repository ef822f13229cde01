import { expect, it } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import { BulkRandom } from '../../src/data/bulk-random.ts';

it('draws standard normals: mean 0, variance 1, fourth moment 3', () => {
  const random = new BulkRandom(new Rng('normal'));
  const n = 200_000;
  let first = 0;
  let second = 0;
  let fourth = 0;
  for (let i = 0; i < n; i++) {
    const z = random.normal();
    first += z / n;
    second += (z * z) / n;
    fourth += z ** 4 / n;
  }
  // Four standard errors: 1, sqrt 2 and sqrt 96 over sqrt n.
  expect(Math.abs(first)).toBeLessThan(4 / Math.sqrt(n));
  expect(Math.abs(second - 1)).toBeLessThan((4 * Math.SQRT2) / Math.sqrt(n));
  expect(Math.abs(fourth - 3)).toBeLessThan((4 * Math.sqrt(96)) / Math.sqrt(n));
});

it('fills the unit interval evenly', () => {
  const random = new BulkRandom(new Rng('uniform'));
  const bins = new Array<number>(10).fill(0);
  for (let i = 0; i < 100_000; i++) {
    const bin = Math.floor(random.uniform() * 10);
    bins[bin] = bins[bin]! + 1;
  }
  const chiSquare = bins.reduce((sum, count) => sum + (count - 10_000) ** 2 / 10_000, 0);
  // 99.9 % point of chi-square with 9 degrees of freedom.
  expect(chiSquare).toBeLessThan(27.88);
});
