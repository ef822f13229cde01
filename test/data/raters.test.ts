import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import { ALL_DISTORTIONS } from '../../src/data/distortion-types.ts';
import { maskingOf, qualityOf, rate } from '../../src/data/raters.ts';

describe('qualityOf', () => {
  it('starts at 4.7 plus the liking', () => {
    expect(qualityOf([], 0.5)).toBe(4.7);
    expect(qualityOf([], 0.5, -0.2)).toBeCloseTo(4.5, 12);
  });

  it('takes the drop at the strength, interpolated between levels', () => {
    // Overexposure is not masked: 0.95 at level 2, 1.6 at level 3, so 1.275 at 2.5.
    expect(qualityOf([{ type: 'overexposure', strength: 2.5 }], 0.9)).toBeCloseTo(4.7 - 1.275, 12);
  });

  it('hides noise in busy content and blur in smooth content', () => {
    expect(maskingOf('gaussianNoise', 0.5)).toBeCloseTo(0.15, 12);
    expect(maskingOf('gaussianBlur', 1)).toBeCloseTo(0, 12);
    // 1.7 (1 - .3 * .8)
    expect(qualityOf([{ type: 'gaussianNoise', strength: 3 }], 0.8)).toBeCloseTo(4.7 - 1.292, 12);
    // 2.1 (1 - .3 * .5)
    expect(qualityOf([{ type: 'gaussianBlur', strength: 3 }], 0.5)).toBeCloseTo(4.7 - 1.785, 12);
  });

  it('counts the lesser of two distortions at 0.4, in any order', () => {
    const over = { type: 'overexposure', strength: 3 } as const;
    const shift = { type: 'colorShift', strength: 2 } as const;
    expect(qualityOf([over, shift], 0.3)).toBeCloseTo(4.7 - 1.6 - 0.4 * 0.8, 12);
    expect(qualityOf([shift, over], 0.3)).toBeCloseTo(qualityOf([over, shift], 0.3), 12);
  });

  it.each(ALL_DISTORTIONS)('falls with the strength of %s', (type) => {
    const qualities = Array.from({ length: 56 }, (_, i) => qualityOf([{ type, strength: i / 10 }], 0.6));
    for (let i = 1; i < qualities.length; i++) expect(qualities[i]).toBeLessThan(qualities[i - 1]!);
  });
});

describe('rate', () => {
  it('never gives a worse image a better MOS from the same raters', () => {
    const scores = Array.from({ length: 45 }, (_, i) => rate(5 - i / 10, new Rng('panel')).mos);
    for (let i = 1; i < scores.length; i++) expect(scores[i]).toBeLessThanOrEqual(scores[i - 1]!);
  });

  it('has the spread of bias and noise together', () => {
    const { mos, std, raters } = rate(3, new Rng(1), 20_000);
    const spread = Math.hypot(0.35, 0.45);
    expect(Math.abs(mos - 3)).toBeLessThan((4 * spread) / Math.sqrt(20_000));
    expect(Math.abs(std - spread)).toBeLessThan(0.02);
    expect(raters).toBe(20_000);
  });

  it('keeps every rating on the scale', () => {
    expect(rate(-20, new Rng(2))).toEqual({ mos: 1, std: 0, raters: 20 });
    expect(rate(30, new Rng(2))).toEqual({ mos: 5, std: 0, raters: 20 });
  });

  it('has no deviation with one rater and refuses none', () => {
    expect(rate(3, new Rng(3), 1).std).toBe(0);
    expect(() => rate(3, new Rng(3), 0)).toThrow(/1 or more, got 0/);
  });
});
