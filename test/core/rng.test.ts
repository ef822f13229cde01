import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/index.ts';

const draw = <T>(n: number, next: () => T): T[] => Array.from({ length: n }, next);
const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** k-th central moment. */
const moment = (values: number[], k: number): number => {
  const centre = mean(values);
  return mean(values.map((value) => (value - centre) ** k));
};

describe('Rng distributions', () => {
  // Five standard errors: a sound generator fails such a check once in 1.7 million seeds, and seeds are fixed.
  const n = 100_000;

  it('uniform has mean 1/2 and variance 1/12 and stays in [0, 1)', () => {
    const rng = new Rng(1);
    const values = draw(n, () => rng.uniform());
    expect(values.every((value) => value >= 0 && value < 1)).toBe(true);
    expect(Math.abs(mean(values) - 1 / 2)).toBeLessThan(5 * Math.sqrt(1 / 12 / n));
    // Var of the sample variance is (mu4 - sigma^4) / n; for U(0, 1) that is (1/80 - 1/144) / n.
    expect(Math.abs(moment(values, 2) - 1 / 12)).toBeLessThan(5 * Math.sqrt((1 / 80 - 1 / 144) / n));
  });

  it('uniform(low, high) is scaled and shifted', () => {
    const a = new Rng('scale');
    const b = new Rng('scale');
    expect(draw(100, () => a.uniform(-3, 5))).toEqual(draw(100, () => -3 + 8 * b.uniform()));
  });

  it('uniform uses more than 32 bits', () => {
    const rng = new Rng(2);
    // A 32-bit fraction times 2^32 would be whole every time.
    const fractions = draw(1000, () => (rng.uniform() * 2 ** 32) % 1);
    expect(fractions.filter((fraction) => fraction === 0).length).toBeLessThan(5);
  });

  it('normal has the moments 0, 1, 0, 3', () => {
    const rng = new Rng(3);
    const values = draw(n, () => rng.normal());
    expect(Math.abs(mean(values))).toBeLessThan(5 * Math.sqrt(1 / n));
    expect(Math.abs(moment(values, 2) - 1)).toBeLessThan(5 * Math.sqrt(2 / n));
    expect(Math.abs(moment(values, 3))).toBeLessThan(5 * Math.sqrt(6 / n));
    expect(Math.abs(moment(values, 4) - 3)).toBeLessThan(5 * Math.sqrt(96 / n));
  });

  it('successive normals (the two of one Box-Muller pair) are uncorrelated', () => {
    const rng = new Rng(4);
    const products = draw(n, () => rng.normal() * rng.normal());
    expect(Math.abs(mean(products))).toBeLessThan(5 * Math.sqrt(1 / n));
  });

  it('normal(mean, std) is scaled and shifted', () => {
    const a = new Rng('n');
    const b = new Rng('n');
    expect(draw(11, () => a.normal(10, 2))).toEqual(draw(11, () => 10 + 2 * b.normal()));
  });

  it('integer(7) gives 0 to 6, each equally often', () => {
    const rng = new Rng(5);
    const counts = new Array<number>(7).fill(0);
    for (let i = 0; i < n; i++) counts[rng.integer(7)]!++;
    const chiSquare = counts.reduce((sum, count) => sum + (count - n / 7) ** 2 / (n / 7), 0);
    // 0.9999 quantile of chi-square with 6 degrees of freedom (any table): 27.86.
    expect(chiSquare).toBeLessThan(27.86);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(n);
  });

  it('pick takes from the list, and refuses an empty one', () => {
    const rng = new Rng(6);
    expect(new Set(draw(200, () => rng.pick(['a', 'b', 'c'])))).toEqual(new Set(['a', 'b', 'c']));
    expect(() => rng.pick([])).toThrow(RangeError);
  });
});

describe('Rng.shuffle', () => {
  it('gives a permutation and leaves its input alone', () => {
    const items = draw(100, () => 0).map((_, i) => i);
    const shuffled = new Rng(7).shuffle(items);
    expect(items).toEqual([...items].sort((a, b) => a - b));
    expect(shuffled).not.toEqual(items);
    expect([...shuffled].sort((a, b) => a - b)).toEqual(items);
  });

  it('handles no item and one', () => {
    expect(new Rng(8).shuffle([])).toEqual([]);
    expect(new Rng(8).shuffle(['only'])).toEqual(['only']);
  });

  it('gives all 6 orders of 3 items equally often', () => {
    const rng = new Rng(9);
    const n = 60_000;
    const counts = new Map<string, number>();
    for (let i = 0; i < n; i++) {
      const order = rng.shuffle(['a', 'b', 'c']).join('');
      counts.set(order, (counts.get(order) ?? 0) + 1);
    }
    const chiSquare = [...counts.values()].reduce((sum, c) => sum + (c - n / 6) ** 2 / (n / 6), 0);
    expect(counts.size).toBe(6);
    // 0.9999 quantile of chi-square with 5 degrees of freedom: 25.74.
    expect(chiSquare).toBeLessThan(25.74);
  });
});

describe('Rng streams', () => {
  it('are equal for equal seeds and differ for others', () => {
    const numbers = (seed: number | string) => {
      const rng = new Rng(seed);
      return draw(20, () => rng.uint32());
    };
    expect(numbers(1)).toEqual(numbers(1));
    expect(numbers(1)).not.toEqual(numbers(2));
    expect(new Set(draw(1000, () => 0).map((_, seed) => new Rng(seed).uint32())).size).toBeGreaterThan(995);
  });

  it('fork does not depend on draws made so far and takes none', () => {
    const fresh = new Rng('run');
    const used = new Rng('run');
    draw(17, () => used.normal());
    const before = used.state();
    expect(used.fork('data', 3).uniform()).toBe(fresh.fork('data', 3).uniform());
    expect(used.state()).toEqual(before);
  });

  it('forks of different names, and the parent, are uncorrelated', () => {
    const parent = new Rng('root');
    const streams = [parent, parent.fork('a'), parent.fork('b'), parent.fork('a', 'b'), parent.fork(1)];
    const n = 20_000;
    const values = streams.map((stream) => draw(n, () => stream.uniform() - 0.5));
    for (let i = 0; i < streams.length; i++) {
      for (let j = 0; j < i; j++) {
        const correlation = mean(values[i]!.map((value, k) => value * values[j]![k]!)) * 12;
        expect(Math.abs(correlation)).toBeLessThan(5 / Math.sqrt(n));
      }
    }
  });

  it.each([0, 1, 2, 3])('a restored state continues to the bit after %i normals', (drawn) => {
    const rng = new Rng('resume');
    draw(drawn, () => rng.normal());
    // Through JSON, as a checkpoint stores it.
    const state = JSON.parse(JSON.stringify(rng.state()));
    const mixed = (source: Rng) => [
      ...draw(5, () => source.normal()),
      ...draw(5, () => source.uniform()),
      ...draw(5, () => source.uint32()),
    ];
    const expected = mixed(rng);
    const other = new Rng('something else');
    other.restore(state);
    expect(mixed(other)).toEqual(expected);
  });

  it('a state is a copy: later draws do not change it', () => {
    const rng = new Rng(10);
    const state = rng.state();
    const copy = structuredClone(state);
    draw(10, () => rng.normal());
    expect(state).toEqual(copy);
  });
});
