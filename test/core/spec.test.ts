import { describe, expect, it } from 'vitest';
import { levelOfScore } from '../../src/core/index.ts';

describe('levelOfScore', () => {
  // Five bins of width (5 - 1) / 5 = 0.8; a bin holds its lower edge, the last one its upper edge too.
  it.each([
    [1, 'bad'],
    [1.79, 'bad'],
    [1.8, 'poor'],
    [2.59, 'poor'],
    [2.6, 'fair'],
    [3, 'fair'],
    [3.39, 'fair'],
    [3.4, 'good'],
    [4.19, 'good'],
    [4.2, 'excellent'],
    [5, 'excellent'],
  ] as const)('%d is %s', (score, level) => {
    expect(levelOfScore(score)).toBe(level);
  });

  it('edges that arise by arithmetic fall where the written ones do', () => {
    expect(levelOfScore(1 + 3 * 0.8)).toBe('good');
    expect(levelOfScore(5 - 0.8)).toBe('excellent');
  });

  it.each([Number.NaN, 0.99, 5.01, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'refuses %d',
    (score) => {
      expect(() => levelOfScore(score)).toThrow(`levelOfScore: got ${score}, allowed is 1 to 5`);
    },
  );
});
