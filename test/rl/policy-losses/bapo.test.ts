import { describe, expect, it } from 'vitest';
import { ConfigError, Rng } from '../../../src/core/index.ts';
import {
  type BapoConfig,
  bapoConfigSchema,
  findBapoBounds,
  preparePolicyLoss,
  ratioOfShare,
} from '../../../src/rl/index.ts';

const config = (settings: { [key: string]: unknown } = {}): BapoConfig =>
  bapoConfigSchema.parse({ kind: 'bapo', ...settings });
/** Tokens by ratio and advantage. */
const tokens = (...list: [ratio: number, advantage: number][]) => ({
  logProbabilities: list.map(([ratio]) => Math.log(ratio)),
  oldLogProbabilities: list.map(() => 0),
  advantages: list.map(([, advantage]) => advantage),
});

describe('ratioOfShare', () => {
  it('is rho0 / (1 - rho0)', () => {
    expect(ratioOfShare(0.4)).toBeCloseTo(2 / 3, 12);
    expect(ratioOfShare(0.5)).toBe(1);
  });

  it('refuses the ends', () => {
    expect(() => ratioOfShare(1)).toThrow(ConfigError);
  });
});

describe('findBapoBounds', () => {
  it('keeps the tightest range where it is enough', () => {
    // Positive 1 * 1, negative 1 * 1: share 0.5 >= 0.4.
    const found = findBapoBounds(tokens([1, 1], [1, -1]), config());
    expect(found).toMatchObject({ low: 0.6, high: 1.2, moves: 0, satisfied: true, positiveShare: 0.5 });
  });

  it('high-first: widens above until the share is reached, to the first step that does', () => {
    // Positive min(2, high), negative 2.05: share 0.4 asks for 1.367, met by the fourth step of 0.05 from 1.2.
    const found = findBapoBounds(tokens([2, 1], [1, -2.05]), config());
    expect(found.high).toBeCloseTo(1.4, 12);
    expect(found).toMatchObject({ low: 0.6, moves: 4, satisfied: true, negative: 2.05 });
    expect(found.positive).toBeCloseTo(1.4, 12);
  });

  it('low-first: raises the floor to its limit before it widens above', () => {
    const found = findBapoBounds(tokens([2, 1], [1, -2.05]), config({ order: 'low-first' }));
    expect(found.low).toBeCloseTo(0.9, 12);
    expect(found.high).toBeCloseTo(1.4, 12);
    // 15 steps of 0.02 and 4 of 0.05.
    expect(found.moves).toBe(19);
  });

  it('converts: share rho0 and ratio rho0 / (1 - rho0) find the same bounds', () => {
    const rng = new Rng('bapo');
    const batch = tokens(
      ...Array.from(
        { length: 60 },
        () => [Math.exp(rng.normal(0, 0.6)), rng.uniform(-1.2, 1)] as [number, number],
      ),
    );
    for (const share of [0.45, 0.5, 0.55]) {
      const byShare = findBapoBounds(batch, config({ target: { kind: 'share', value: share } }));
      const byRatio = findBapoBounds(
        batch,
        config({ target: { kind: 'ratio', value: share / (1 - share) } }),
      );
      expect(byRatio).toEqual(byShare);
    }
  });

  it('equals a search that is written out step by step', () => {
    const rng = new Rng('bapo-reference');
    const list = Array.from(
      { length: 80 },
      () => [Math.exp(rng.normal(0, 0.8)), rng.uniform(-1.3, 1)] as [number, number],
    );
    const settings = config({ target: { kind: 'share', value: 0.45 } });
    const share = (low: number, high: number) => {
      const effective = list.map(([r, a]) => (a > 0 ? Math.min(r, high) : Math.max(r, low)) * a);
      const positive = effective.filter((v) => v > 0).reduce((sum, v) => sum + v, 0);
      return positive / effective.reduce((sum, v) => sum + Math.abs(v), 0);
    };
    let [low, high] = [settings.lowStart, settings.highStart];
    while (share(low, high) < 0.45 && !(low >= settings.lowLimit && high >= settings.highLimit)) {
      if (high < settings.highLimit) high = Math.min(high + settings.highStep, settings.highLimit);
      else low = Math.min(low + settings.lowStep, settings.lowLimit);
    }
    const found = findBapoBounds(tokens(...list), settings);
    expect(found.low).toBeCloseTo(low, 9);
    expect(found.high).toBeCloseTo(high, 9);
    expect(found.positiveShare).toBeCloseTo(share(low, high), 9);
    expect(found.moves).toBeGreaterThan(0);
  });

  it.each(['high-first', 'low-first'])('%s: saturates at both limits where nothing is positive', (order) => {
    const found = findBapoBounds(tokens([1, -1], [0.5, -1]), config({ order }));
    expect(found).toMatchObject({ low: 0.9, high: 3, satisfied: false, positive: 0, positiveShare: 0 });
  });

  it('lands on the limit exactly, also when the steps do not divide the way', () => {
    const found = findBapoBounds(tokens([1, -1]), config({ lowStep: 0.07, highStep: 0.7 }));
    expect(found).toMatchObject({ low: 0.9, high: 3, moves: 5 + 3 });
  });

  it('is content where nothing is negative, and where no advantage differs from 0', () => {
    expect(findBapoBounds(tokens([1, 2]), config())).toMatchObject({ satisfied: true, moves: 0 });
    expect(findBapoBounds(tokens([1, 0]), config())).toMatchObject({ satisfied: true, positiveShare: null });
    expect(findBapoBounds(tokens(), config())).toMatchObject({ satisfied: true, clippedLow: 0 });
  });

  it('counts the clipped tokens of each side under the found bounds', () => {
    const found = findBapoBounds(tokens([1.5, 1], [0.5, -1], [1.5, -1], [0.5, 1]), config());
    expect(found).toMatchObject({ clippedLow: 0.25, clippedHigh: 0.25, moves: 0 });
  });

  it('by value, a raised floor adds to the negative side; by gradient, it takes the token out', () => {
    const batch = tokens([1, 1], [0.7, -3], [1, -1]);
    const settings = { target: { kind: 'share', value: 0.45 }, order: 'low-first', highLimit: 1.2 };
    const byValue = findBapoBounds(batch, config(settings));
    expect(byValue).toMatchObject({ low: 0.9, satisfied: false });
    expect(byValue.negative).toBeCloseTo(0.9 * 3 + 1, 12);
    const byGradient = findBapoBounds(batch, config({ ...settings, contribution: 'gradient' }));
    // The first floor above 0.7 leaves 1 against 1.
    expect(byGradient.low).toBeCloseTo(0.72, 12);
    expect(byGradient).toMatchObject({ satisfied: true, negative: 1, positiveShare: 0.5 });
  });

  it('refuses numbers that are not finite', () => {
    expect(() => findBapoBounds(tokens([1, Number.NaN]), config())).toThrow(RangeError);
  });
});

describe('preparePolicyLoss', () => {
  it('turns BAPO into a clip with the bounds of the batch, and logs what it found', () => {
    const prepared = preparePolicyLoss(config({ dualClip: 3 }), tokens([2, 1], [1, -2.05]), new Rng('x'));
    expect(prepared.loss).toMatchObject({ kind: 'moving-clip', low: 0.6, dualClip: 3 });
    expect(prepared.metrics['bapo/high']).toBeCloseTo(1.4, 12);
    expect(prepared.metrics['bapo/positive']).toBeCloseTo(1.4, 12);
    expect(prepared.metrics['bapo/negative']).toBeCloseTo(2.05, 12);
    expect(prepared.metrics['bapo/clippedHigh']).toBe(0.5);
  });
});
