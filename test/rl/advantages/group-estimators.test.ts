import { describe, expect, it } from 'vitest';
import { ConfigError, type RewardValue, Rng } from '../../../src/core/index.ts';
import {
  bestOfGroupAdvantages,
  gdpoAdvantages,
  maxRlAdvantages,
  opoAdvantages,
  passAtKAdvantages,
  remaxAdvantages,
} from '../../../src/rl/index.ts';

const ok = (...values: number[]): RewardValue[] => values.map((value) => ({ status: 'ok', value }));
const missing: RewardValue = { status: 'missing', reason: 'timed out' };
const group = (size: number) => new Array<string>(size).fill('a');
const close = (ours: readonly (number | null)[], expected: readonly number[]) => {
  expect(ours.length).toBe(expected.length);
  expected.forEach((value, i) => {
    expect(ours[i]).toBeCloseTo(value, 9);
  });
};

describe('maxRlAdvantages', () => {
  it('divides the centred reward by the success rate', () => {
    // One success of four: (1 - 0.25) / 0.25 = 3 and -1.
    close(maxRlAdvantages(ok(1, 0, 0, 0), group(4), { epsilon: 1e-12 }).advantages, [3, -1, -1, -1]);
  });

  it('is 0 for a group without success', () => {
    expect(maxRlAdvantages(ok(0, 0), group(2)).advantages).toEqual([0, 0]);
  });

  it('refuses negative rewards', () => {
    expect(() => maxRlAdvantages(ok(1, -1), group(2))).toThrow(ConfigError);
  });
});

describe('opoAdvantages', () => {
  it('subtracts the length-weighted mean of the group', () => {
    // (10 * 1 + 30 * 0) / 40 = 0.25.
    close(opoAdvantages(ok(1, 0), group(2), [10, 30]).advantages, [0.75, -0.25]);
  });

  it('leaves a missing reward and its length out of the baseline', () => {
    const { advantages } = opoAdvantages([...ok(1, 0), missing], group(3), [10, 30, 1000]);
    close(advantages.slice(0, 2), [0.75, -0.25]);
    expect(advantages[2]).toBeNull();
  });

  it('refuses a judged sample without tokens', () => {
    expect(() => opoAdvantages(ok(1, 0), group(2), [10, 0])).toThrow(RangeError);
  });
});

describe('remaxAdvantages', () => {
  it('subtracts the reward of the greedy completion', () => {
    close(remaxAdvantages(ok(0.75, 0.25), ok(0.5, 0.5)), [0.25, -0.25]);
  });

  it('has no advantage where either reward is missing', () => {
    expect(remaxAdvantages([missing, ...ok(1, Number.NaN)], [...ok(1), missing, ...ok(0)])).toEqual([
      null,
      null,
      null,
    ]);
  });
});

describe('bestOfGroupAdvantages', () => {
  it('gives the best sample its lead over the second', () => {
    close(bestOfGroupAdvantages(ok(0.2, 0.9, 0.5), group(3), { scaled: false }).advantages, [0, 0.4, 0]);
  });

  it('divides by the standard deviation when scaled', () => {
    // 0, 2: std sqrt 2.
    close(bestOfGroupAdvantages(ok(0, 2), group(2), { epsilon: 1e-12 }).advantages, [0, Math.SQRT2]);
  });

  it('gives nothing where the best is shared', () => {
    expect(bestOfGroupAdvantages(ok(1, 1, 0), group(3)).advantages).toEqual([0, 0, 0]);
  });
});

describe('passAtKAdvantages', () => {
  /** The definition: every subset of k is a sample of the reward; a response gets the mean over its subsets. */
  function byEnumeration(successes: readonly number[], k: number): number[] {
    const subsets: number[][] = [];
    for (let bits = 0; bits < 2 ** successes.length; bits++) {
      const members = successes.flatMap((_, i) => ((bits >> i) & 1 ? [i] : []));
      if (members.length === k) subsets.push(members);
    }
    const rewards = subsets.map((members) => Math.max(...members.map((i) => successes[i]!)));
    const mean = rewards.reduce((sum, r) => sum + r, 0) / rewards.length;
    const deviation = Math.sqrt(rewards.reduce((sum, r) => sum + (r - mean) ** 2, 0) / rewards.length);
    return successes.map((_, i) => {
      const own = rewards.filter((_, s) => subsets[s]!.includes(i));
      return own.reduce((sum, r) => sum + (r - mean) / deviation, 0) / own.length;
    });
  }

  it.each([
    [[1, 0, 0, 0, 0, 0], 2],
    [[1, 0, 1, 0, 0, 0, 0, 1], 4],
    [[0, 0, 0, 0, 0, 0, 1], 6],
    [[1, 0, 1, 0], 1],
  ])('equals the mean over all subsets: %j, k %i', (successes, k) => {
    close(passAtKAdvantages(ok(...successes), group(successes.length), { k }).advantages, [
      ...byEnumeration(successes, k),
    ]);
  });

  it('is 0 where every subset holds a success', () => {
    expect(passAtKAdvantages(ok(1, 1, 0), group(3), { k: 2 }).advantages).toEqual([0, 0, 0]);
  });

  it('refuses other rewards than 0 and 1, and a group smaller than k', () => {
    expect(() => passAtKAdvantages(ok(0.5, 0), group(2), { k: 2 })).toThrow(ConfigError);
    expect(() => passAtKAdvantages(ok(1, 0), group(2), { k: 3 })).toThrow(ConfigError);
  });
});

describe('gdpoAdvantages', () => {
  const term = (name: string, weight: number, rewards: RewardValue[]) => ({ name, weight, rewards });

  it('normalises each term in its group, sums, and normalises over the batch', () => {
    // Each term becomes -+1/sqrt 2 within groups of two, whatever its size; the sums are x + y:
    // sqrt 2, -sqrt 2, 0, 0. Mean 0, unbiased variance 4/3.
    const { advantages } = gdpoAdvantages(
      [term('x', 1, ok(100, 0, 100, 0)), term('y', 1, ok(0.1, 0, 0, 0.1))],
      ['a', 'a', 'b', 'b'],
      { epsilon: 1e-12 },
    );
    const expected = Math.SQRT2 / Math.sqrt(4 / 3);
    close(advantages, [expected, -expected, 0, 0]);
  });

  it('keeps a small term audible that a sum would drown', () => {
    const rng = new Rng('gdpo');
    const large = ok(...Array.from({ length: 8 }, () => rng.uniform(0, 1000)));
    const small = ok(0, 1, 0, 1, 0, 1, 0, 1);
    const { advantages } = gdpoAdvantages([term('l', 0.001, large), term('s', 1, small)], group(8));
    small.forEach((reward, i) => {
      expect(Math.sign(advantages[i]!)).toBe(reward.status === 'ok' && reward.value === 1 ? 1 : -1);
    });
  });

  it('takes a missing term as no evidence, and all missing as no advantage', () => {
    const { advantages, counts } = gdpoAdvantages(
      [term('x', 1, [...ok(1, 0), missing]), term('y', 1, [missing, ...ok(1), missing])],
      group(3),
      { epsilon: 1e-12, singleton: 'drop' },
    );
    // y is left with one value and dropped; x gives -+1/sqrt 2, whose spread is 1.
    close(advantages.slice(0, 2), [Math.SQRT1_2, -Math.SQRT1_2]);
    expect(advantages[2]).toBeNull();
    expect(counts.y).toMatchObject({ missing: 2, singletonGroups: 1 });
  });

  it('is exactly 0 where nothing differs', () => {
    expect(gdpoAdvantages([term('x', 1, ok(0.1, 0.1))], group(2)).advantages).toEqual([0, 0]);
  });
});

describe.each([
  ['MaxRL', (r: RewardValue[], g: string[]) => maxRlAdvantages(r, g)],
  ['OPO', (r: RewardValue[], g: string[]) => opoAdvantages(r, g, new Array(r.length).fill(3))],
  ['best of group', (r: RewardValue[], g: string[]) => bestOfGroupAdvantages(r, g)],
  ['pass@k', (r: RewardValue[], g: string[]) => passAtKAdvantages(r, g, { k: 2 })],
  ['GDPO', (r: RewardValue[], g: string[]) => gdpoAdvantages([{ name: 'x', weight: 1, rewards: r }], g)],
])('%s', (_, estimator) => {
  it('refuses a group of one', () => {
    expect(() => estimator(ok(1), ['a'])).toThrow(ConfigError);
  });

  it('gives a missing reward no advantage', () => {
    expect(estimator([...ok(1, 0), missing], group(3)).advantages[2]).toBeNull();
  });

  it('gives exactly 0 for equal rewards', () => {
    expect(estimator(ok(1, 1, 1), group(3)).advantages).toEqual([0, 0, 0]);
  });
});
