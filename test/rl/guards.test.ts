import { describe, expect, it } from 'vitest';
import { TrainingError } from '../../src/core/index.ts';
import { NonFiniteGuard, RewardFailureGuard, requireRatioOne } from '../../src/rl/index.ts';

describe('NonFiniteGuard', () => {
  it('stops at the set number in a row and not before', () => {
    const guard = new NonFiniteGuard(3);
    guard.observe(false, 1);
    guard.observe(false, 2);
    expect(() => guard.observe(false, 3)).toThrow(TrainingError);
  });

  it('starts counting anew after an applied step, and keeps the total', () => {
    const guard = new NonFiniteGuard(2);
    guard.observe(false, 1);
    guard.observe(true, 2);
    guard.observe(false, 3);
    expect(guard.state()).toEqual({ skipped: 2, consecutive: 1 });
  });

  it('goes on from a restored state', () => {
    const guard = new NonFiniteGuard(2);
    guard.restore({ skipped: 7, consecutive: 1 });
    expect(() => guard.observe(false, 9)).toThrow('2 steps in a row, the last at step 9');
  });
});

describe('RewardFailureGuard', () => {
  it('bears the limit itself and stops above it', () => {
    const guard = new RewardFailureGuard({ limit: 0.25 });
    guard.observe({ missing: 2, total: 8 });
    expect(() => guard.observe({ missing: 3, total: 8 })).toThrow(TrainingError);
  });

  it('takes the rate over its window of batches', () => {
    const guard = new RewardFailureGuard({ limit: 0.5, window: 2 });
    guard.observe({ missing: 0, total: 8 });
    guard.observe({ missing: 6, total: 8 });
    expect(guard.rate).toBe(6 / 16);
    expect(() => guard.observe({ missing: 3, total: 8 })).toThrow('56.3 %');
  });

  it('names a reason', () => {
    const guard = new RewardFailureGuard({ limit: 0 });
    expect(() => guard.observe({ missing: 1, total: 2, reasons: ['judge timed out'] })).toThrow(
      'judge timed out',
    );
  });

  it('has rate 0 for an empty batch', () => {
    const guard = new RewardFailureGuard({ limit: 0 });
    guard.observe({ missing: 0, total: 0 });
    expect(guard.rate).toBe(0);
  });

  it('goes on from a restored window', () => {
    const guard = new RewardFailureGuard({ limit: 0.5, window: 2 });
    guard.restore({ recent: [{ missing: 4, total: 4 }] });
    expect(() => guard.observe({ missing: 1, total: 4 })).toThrow(TrainingError);
  });
});

describe('requireRatioOne', () => {
  it('accepts the tolerance', () => {
    expect(() =>
      requireRatioOne({ minimum: 0.9999, maximum: 1.0001 }, { tolerance: 1e-3, step: 0 }),
    ).not.toThrow();
  });

  it.each([
    ['above', 1, 1.01],
    ['below', 0.98, 1],
    ['NaN', Number.NaN, 1],
  ])('refuses %s', (_name, minimum, maximum) => {
    expect(() => requireRatioOne({ minimum, maximum }, { tolerance: 1e-3, step: 0 })).toThrow(TrainingError);
  });
});
