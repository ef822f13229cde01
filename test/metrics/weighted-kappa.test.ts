import { describe, expect, it } from 'vitest';
import { resampledWeightedKappa, weightedKappa } from '../../src/metrics/index.ts';

const scale = { lowest: 0, highest: 2 };
// Disagreements 0 1 0 0 0 0 2. Counts of the grades 2, 2, 3 and 2, 3, 2: of all 49 pairs of grades, 23 are one
// apart and 10 are two apart.
const first = [0, 0, 1, 1, 2, 2, 2];
const second = [0, 1, 1, 1, 2, 2, 0];

const kappaBy = (weights: 'quadratic' | 'linear' | 'none'): number => {
  const kappa = weightedKappa(first, second, { ...scale, weights });
  if (kappa.status !== 'ok') throw new Error(kappa.detail);
  return kappa.value;
};

describe('weighted kappa', () => {
  it('unweighted, by hand', () => expect(kappaBy('none')).toBeCloseTo(1 - 2 / (33 / 7), 14));
  it('linear, by hand', () => expect(kappaBy('linear')).toBeCloseTo(1 - 3 / (43 / 7), 14));
  it('quadratic, by hand', () => expect(kappaBy('quadratic')).toBeCloseTo(1 - 5 / (63 / 7), 14));

  it.each(['quadratic', 'linear', 'none'] as const)(
    'with two grades, %s is 0.4 for 20, 5, 10, 15',
    (weights) => {
      // Both yes 20, only the first 5, only the second 10, both no 15: 0.7 observed, 0.5 by chance.
      const a = [...Array<number>(25).fill(1), ...Array<number>(25).fill(0)];
      const b = [20, 5, 10, 15].flatMap((times, i) => Array<number>(times).fill(i % 2 === 0 ? 1 : 0));
      const kappa = weightedKappa(a, b, { weights, lowest: 0, highest: 1 });
      expect(kappa.status === 'ok' && kappa.value).toBeCloseTo(0.4, 14);
    },
  );

  it('full agreement is 1, exact opposition of two grades -1', () => {
    expect(weightedKappa(first, first, { ...scale, weights: 'quadratic' })).toEqual({
      status: 'ok',
      value: 1,
    });
    expect(weightedKappa([0, 2], [2, 0], { ...scale, weights: 'quadratic' })).toEqual({
      status: 'ok',
      value: -1,
    });
  });
  it('one constant judge agrees as by chance', () =>
    expect(weightedKappa(first, [1, 1, 1, 1, 1, 1, 1], { ...scale, weights: 'linear' })).toEqual({
      status: 'ok',
      value: 0,
    }));
  it('two judges constant on one grade have no kappa', () =>
    expect(weightedKappa([2, 2], [2, 2], { ...scale, weights: 'linear' })).toMatchObject({
      reason: 'constant-scores',
    }));
  it('nothing judged has no kappa', () =>
    expect(weightedKappa([], [], { ...scale, weights: 'linear' })).toMatchObject({ reason: 'too-few' }));
  it('NaN has no kappa', () =>
    expect(weightedKappa([Number.NaN], [1], { ...scale, weights: 'linear' })).toMatchObject({
      reason: 'not-finite',
    }));
  it.each([3, -1, 0.5])('refuses the grade %f', (grade) =>
    expect(() => weightedKappa([0, grade], [0, 1], { ...scale, weights: 'linear' })).toThrow(
      'allowed are the whole numbers from 0 to 2',
    ),
  );
  it('of a resample is that of the written-out resample', () => {
    const weights = Int32Array.of(2, 0, 1, 1, 0, 1, 2);
    const repeat = (values: number[]) => values.flatMap((v, i) => Array<number>(weights[i]!).fill(v));
    const options = { ...scale, weights: 'quadratic' } as const;
    const plain = weightedKappa(repeat(first), repeat(second), options);
    expect(resampledWeightedKappa(first, second, options)(weights)).toBeCloseTo(
      plain.status === 'ok' ? plain.value : Number.NaN,
      14,
    );
  });
});
