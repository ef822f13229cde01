import { describe, expect, it } from 'vitest';
import { meanRepetition, repetitionShare } from '../../../src/rl/index.ts';

describe('repetitionShare', () => {
  it.each([
    // Five 4-grams, all different.
    [[1, 2, 3, 4, 5, 6, 7, 8], 4, 0],
    // 1111 twice.
    [[1, 1, 1, 1, 1], 4, 1 / 2],
    // 123, 231, 312, 123, 231, 312: three of six.
    [[1, 2, 3, 1, 2, 3, 1, 2], 3, 1 / 2],
    // 12, 23, 31, 12: one of four.
    [[1, 2, 3, 1, 2], 2, 1 / 4],
    [[5, 5, 6], 1, 1 / 3],
    // One 4-gram repeats nothing.
    [[9, 9, 9, 9], 4, 0],
  ])('of %j with n = %d', (tokens, n, share) => {
    expect(repetitionShare(tokens, n)).toBeCloseTo(share, 12);
  });

  it('tells [1, 23] from [12, 3]', () => {
    expect(repetitionShare([1, 23, 12, 3], 2)).toBe(0);
  });

  it.each([[[]], [[1, 2, 3]]])('has no value for the %j of fewer than n tokens', (tokens) => {
    expect(repetitionShare(tokens, 4)).toBeNull();
  });
});

describe('meanRepetition', () => {
  const of = (...tokens: number[]) => ({ tokenIds: tokens });
  it('is the mean over completions that have a share', () => {
    expect(meanRepetition([of(1, 1, 1, 1, 1), of(1, 2, 3, 4, 5), of(1)])).toBe(0.25);
  });
  it('has no value without any', () => {
    expect(meanRepetition([of(1)])).toBeNull();
    expect(meanRepetition([])).toBeNull();
  });
});
