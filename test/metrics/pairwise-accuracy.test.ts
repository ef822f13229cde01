import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import { pairwiseAccuracy } from '../../src/metrics/index.ts';

describe('pairwise accuracy', () => {
  it('by hand: ties count half, equal targets not at all', () => {
    // Gap 1: images 1-2 tie, 2-3 and 2-4 agree. Gap 2: 1-3 agrees, 1-4 does not. 3-4 have equal targets.
    const { bins, overall } = pairwiseAccuracy([1, 1, 2, 1.5], [1, 2, 3, 3], { gaps: [0, 1, 2] });
    expect(bins).toEqual([
      {
        from: 0,
        below: 1,
        pairs: 0,
        agreeing: 0,
        tied: 0,
        accuracy: expect.objectContaining({ reason: 'nothing-to-count' }) as unknown,
      },
      { from: 1, below: 2, pairs: 3, agreeing: 2, tied: 1, accuracy: { status: 'ok', value: 2.5 / 3 } },
      { from: 2, below: null, pairs: 2, agreeing: 2, tied: 0, accuracy: { status: 'ok', value: 1 } },
    ]);
    expect(overall).toMatchObject({ pairs: 5, agreeing: 4, tied: 1, accuracy: { value: 0.9 } });
  });

  it('a constant predictor is at a coin toss', () =>
    expect(pairwiseAccuracy([3, 3, 3], [1, 2, 3]).overall.accuracy).toEqual({ status: 'ok', value: 0.5 }));

  it('4.3 and 4.2 are 0.1 apart, although their difference as a double is less', () => {
    expect(4.3 - 4.2).toBeLessThan(0.1);
    expect(pairwiseAccuracy([1, 2], [4.2, 4.3], { gaps: [0.1] }).overall.pairs).toBe(1);
  });

  it.each([2, 3, 40, 200])('equals counting all pairs of %i images with ties', (n) => {
    const rng = new Rng(`pairs ${n}`);
    const scores = Array.from({ length: n }, () => rng.integer(12));
    const targets = Array.from({ length: n }, () => rng.integer(9) / 2);
    const gaps = [0, 0.5, 1.5, 3];
    const counts = gaps.map(() => ({ pairs: 0, agreeing: 0, tied: 0 }));
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        const gap = targets[i]! - targets[j]!;
        if (gap <= 0) continue;
        const bin = counts[gaps.findLastIndex((from) => gap >= from)]!;
        bin.pairs++;
        if (scores[i]! > scores[j]!) bin.agreeing++;
        if (scores[i] === scores[j]) bin.tied++;
      }
    }
    expect(pairwiseAccuracy(scores, targets, { gaps }).bins).toMatchObject(counts);
  });

  it.each([
    ['no image', [], [], 'too-few'],
    ['one image', [1], [1], 'too-few'],
    ['NaN', [1, Number.NaN], [1, 2], 'not-finite'],
    ['constant targets', [1, 2], [3, 3], 'nothing-to-count'],
  ] as const)('has no value for %s', (_, scores, targets, reason) =>
    expect(pairwiseAccuracy(scores, targets).overall.accuracy).toMatchObject({ reason }),
  );

  it.each([[[]], [[1, 1]], [[2, 1]], [[-1]], [[Number.NaN]]])('refuses the gaps %j', (gaps) =>
    expect(() => pairwiseAccuracy([1, 2], [1, 2], { gaps })).toThrow('rising numbers from 0'),
  );
});
