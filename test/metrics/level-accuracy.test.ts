import { describe, expect, it } from 'vitest';
import { levelAccuracy } from '../../src/metrics/index.ts';

// Levels of the scores: bad, poor, fair, excellent, excellent, none; of the targets: bad, bad, excellent,
// excellent, good, bad.
const scores = [1, 1.8, 2.6, 5, 4.2, 0.5];
const targets = [1.79, 1.2, 4.9, 4.2, 4.19, 1];

describe('level accuracy', () => {
  it('counts equal levels, neighbours and scores off the scale', () => {
    expect(levelAccuracy(scores, targets)).toMatchObject({
      status: 'ok',
      exact: { count: 2, of: 6 },
      withinOne: { count: 4, of: 6 },
      outside: 1,
    });
  });
  it('tells which level was taken for which', () => {
    const result = levelAccuracy(scores, targets);
    expect(result.status === 'ok' && result.confusion).toEqual([
      [1, 1, 0, 0, 0],
      [0, 0, 0, 0, 0],
      [0, 0, 0, 0, 0],
      [0, 0, 0, 0, 1],
      [0, 0, 1, 0, 1],
    ]);
  });
  it('throws for a target off the scale', () =>
    expect(() => levelAccuracy([3, 3], [3, 62])).toThrow('allowed is 1 to 5'));
  it('of no pair has no value', () => expect(levelAccuracy([], [])).toMatchObject({ reason: 'too-few' }));
  it('of NaN has no value', () =>
    expect(levelAccuracy([Number.NaN], [3])).toMatchObject({ reason: 'not-finite' }));
});
