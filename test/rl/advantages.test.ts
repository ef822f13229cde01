import { describe, expect, it } from 'vitest';
import { ConfigError, type RewardValue, TrainingError } from '../../src/core/index.ts';
import { grpoAdvantages, rlooAdvantages } from '../../src/rl/index.ts';

const ok = (value: number): RewardValue => ({ status: 'ok', value });
const missing: RewardValue = { status: 'missing', reason: 'timed out' };

describe('grpoAdvantages', () => {
  it('divides the centred reward by the unbiased standard deviation plus epsilon', () => {
    // 1, 2, 3, 4: mean 2.5, sum of squares 5, unbiased variance 5/3, std 1.2909944.
    const { advantages } = grpoAdvantages([1, 2, 3, 4].map(ok), ['a', 'a', 'a', 'a']);
    [-1.5, -0.5, 0.5, 1.5].forEach((centred, i) => {
      expect(advantages[i]).toBeCloseTo(centred / (1.2909944487358056 + 1e-4), 12);
    });
  });

  it('compares within prompts, whatever the order of the samples', () => {
    // a: 0, 2 -> mean 1, std sqrt 2.  b: 10, 14 -> mean 12, std sqrt 8.
    const { advantages } = grpoAdvantages([0, 10, 2, 14].map(ok), ['a', 'b', 'a', 'b'], { epsilon: 1e-12 });
    const half = Math.SQRT1_2;
    [-half, -half, half, half].forEach((expected, i) => {
      expect(advantages[i]).toBeCloseTo(expected, 9);
    });
  });

  it('gives tied rewards the same advantage', () => {
    // 1, 1, 0, 0: mean 0.5, unbiased variance 1/3.
    const { advantages } = grpoAdvantages([1, 0, 1, 0].map(ok), ['a', 'a', 'a', 'a']);
    const expected = 0.5 / (Math.sqrt(1 / 3) + 1e-4);
    expect(advantages).toEqual([expected, -expected, expected, -expected]);
  });

  it('gives exactly 0 for equal rewards that have no exact binary form', () => {
    // (0.1 + 0.1 + 0.1) / 3 is not 0.1 in binary.
    const result = grpoAdvantages([0.1, 0.1, 0.1].map(ok), ['a', 'a', 'a']);
    expect(result.advantages).toEqual([0, 0, 0]);
    expect(result.counts.zeroVarianceGroups).toBe(1);
    expect(result.groups[0]?.zeroVariance).toBe(true);
  });

  it('keeps a missing, a NaN and an infinite reward out of the statistics', () => {
    const rewards = [ok(1), missing, ok(3), ok(Number.NaN), ok(Number.POSITIVE_INFINITY)];
    const { advantages, groups, counts } = grpoAdvantages(rewards, ['a', 'a', 'a', 'a', 'a']);
    const expected = 1 / (Math.SQRT2 + 1e-4);
    expect(advantages).toEqual([-expected, null, expected, null, null]);
    expect(counts.missing).toBe(3);
    expect(groups).toEqual([{ id: 'a', size: 5, valid: 2, mean: 2, std: Math.SQRT2, zeroVariance: false }]);
  });

  it('drops and counts a group that missing rewards left with one member', () => {
    const result = grpoAdvantages([ok(1), missing, ok(0), ok(1)], ['a', 'a', 'b', 'b']);
    expect(result.advantages[0]).toBeNull();
    expect(result.counts).toEqual({
      groups: 2,
      zeroVarianceGroups: 0,
      singletonGroups: 1,
      emptyGroups: 0,
      missing: 1,
    });
    expect(result.groups[0]).toEqual({ id: 'a', size: 2, valid: 1, mean: 1, std: null, zeroVariance: false });
  });

  it('refuses a group that was made with one sample', () => {
    expect(() => grpoAdvantages([ok(1)], ['a'])).toThrow(ConfigError);
  });

  it('drops a group of one sample when asked to', () => {
    const { advantages, counts } = grpoAdvantages([ok(1)], ['a'], { singleton: 'drop' });
    expect(advantages).toEqual([null]);
    expect(counts.singletonGroups).toBe(1);
  });

  it('refuses a group that missing rewards left with one member when asked to', () => {
    const call = () => grpoAdvantages([ok(1), missing], ['a', 'a'], { singleton: 'error' });
    expect(call).toThrow(TrainingError);
  });

  it('drops and counts a group without any reward', () => {
    const { advantages, groups, counts } = grpoAdvantages([missing, missing], ['a', 'a']);
    expect(advantages).toEqual([null, null]);
    expect(groups[0]?.mean).toBeNull();
    expect(counts.emptyGroups).toBe(1);
  });

  it('scales by the standard deviation of the compared rewards of the batch', () => {
    // 0, 2, 10, 14 over the batch: mean 6.5, squares 42.25 + 20.25 + 12.25 + 56.25 = 131, variance 131/3.
    const { advantages } = grpoAdvantages(
      [ok(0), ok(2), ok(10), ok(14), ok(1000), missing],
      ['a', 'a', 'b', 'b', 'dropped', 'dropped'],
      { scale: 'batch' },
    );
    const divisor = Math.sqrt(131 / 3) + 1e-4;
    [-1 / divisor, 1 / divisor, -2 / divisor, 2 / divisor].forEach((expected, i) => {
      expect(advantages[i]).toBeCloseTo(expected, 12);
    });
  });

  it('only centres when nothing scales', () => {
    const { advantages } = grpoAdvantages([0, 2, 10, 14].map(ok), ['a', 'a', 'b', 'b'], { scale: 'none' });
    expect(advantages).toEqual([-1, 1, -2, 2]);
  });

  it('is empty for an empty batch', () => {
    expect(grpoAdvantages([], []).advantages).toEqual([]);
  });

  it('refuses lists of different length', () => {
    expect(() => grpoAdvantages([ok(1)], [])).toThrow(RangeError);
  });
});

describe('rlooAdvantages', () => {
  it('subtracts the mean of the other rewards', () => {
    // 1 - (2 + 6) / 2, 2 - (1 + 6) / 2, 6 - (1 + 2) / 2
    const { advantages } = rlooAdvantages([1, 2, 6].map(ok), ['a', 'a', 'a']);
    [-3, -1.5, 4.5].forEach((expected, i) => {
      expect(advantages[i]).toBeCloseTo(expected, 12);
    });
  });

  it('leaves a missing reward out of the others mean', () => {
    const { advantages } = rlooAdvantages([ok(1), missing, ok(3)], ['a', 'a', 'a']);
    expect(advantages).toEqual([-2, null, 2]);
  });

  it('gives exactly 0 for equal rewards', () => {
    expect(rlooAdvantages([0.1, 0.1, 0.1].map(ok), ['a', 'a', 'a']).advantages).toEqual([0, 0, 0]);
  });
});
