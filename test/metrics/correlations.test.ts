import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import { correlations, krcc, plcc, srcc } from '../../src/metrics/index.ts';

describe('correlations in one pass', () => {
  it('of 1, 2, 3, 3 and 2, 1, 4, 3, by hand', () => {
    // Ranks 1, 2, 3.5, 3.5 and 2, 1, 4, 3: deviations' products 0.75 + 0.75 + 1.5 + 0.5 over sqrt(4.5 * 5).
    // Tau-b: of 6 pairs 1 is tied in x, 4 agree and 1 disagrees: 3 / sqrt(5 * 6).
    // Pearson: deviations -1.25, -0.25, 0.75, 0.75 and -0.5, -1.5, 1.5, 0.5: 2.5 / sqrt(2.75 * 5).
    const all = correlations([1, 2, 3, 3], [2, 1, 4, 3]);
    expect(all.srcc.status === 'ok' && all.srcc.value).toBeCloseTo(3.5 / Math.sqrt(22.5), 14);
    expect(all.krcc.status === 'ok' && all.krcc.value).toBeCloseTo(3 / Math.sqrt(30), 14);
    expect(all.plcc.status === 'ok' && all.plcc.value).toBeCloseTo(2.5 / Math.sqrt(13.75), 14);
  });

  it.each([2, 3, 50, 20000])('equal the three alone, to the bit, for %i pairs with ties', (n) => {
    const rng = new Rng(n);
    const scores = [0, 1, ...Array.from({ length: n - 2 }, () => rng.integer(n))];
    const targets = [1, 0, ...Array.from({ length: n - 2 }, () => rng.integer(100) / 7)];
    expect(correlations(scores, targets)).toEqual({
      srcc: srcc(scores, targets),
      plcc: plcc(scores, targets),
      krcc: krcc(scores, targets),
    });
  });

  it.each([
    ['nothing', [], [], 'too-few'],
    ['one pair', [1], [1], 'too-few'],
    ['constant scores', [2, 2, 2], [1, 2, 3], 'constant-scores'],
    ['constant targets', [1, 2, 3], [2, 2, 2], 'constant-targets'],
    ['NaN', [1, Number.NaN, 3], [1, 2, 3], 'not-finite'],
  ] as const)('have no value for %s, and say why', (_, scores, targets, reason) => {
    const why = { status: 'undefined-because', reason };
    expect(correlations(scores, targets)).toMatchObject({ srcc: why, plcc: why, krcc: why });
  });
});
