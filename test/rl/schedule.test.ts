import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/core/index.ts';
import { type LearningRateSchedule, learningRateAt, linearAt } from '../../src/rl/index.ts';

describe('learningRateAt', () => {
  it('rises in equal parts to the peak and never starts at 0', () => {
    const schedule: LearningRateSchedule = { kind: 'constant', peak: 0.4, warmupSteps: 4, totalSteps: 10 };
    const rates = [0, 1, 2, 3, 4, 9].map((step) => learningRateAt(schedule, step));
    [0.1, 0.2, 0.3, 0.4, 0.4, 0.4].forEach((rate, i) => {
      expect(rates[i]).toBeCloseTo(rate, 12);
    });
  });

  it('follows half a cosine from the peak to the final rate', () => {
    const schedule: LearningRateSchedule = {
      kind: 'cosine',
      peak: 1,
      final: 0.1,
      warmupSteps: 2,
      totalSteps: 14,
    };
    // Steps 2, 5, 6, 8, 10, 14 are 0, 1/4, 1/3, 1/2, 2/3 and 1 of the way; cos: 1, sqrt(1/2), 1/2, 0, -1/2, -1.
    const expected = [1, 0.1 + 0.45 * (1 + Math.SQRT1_2), 0.775, 0.55, 0.325, 0.1];
    [2, 5, 6, 8, 10, 14].forEach((step, i) => {
      expect(learningRateAt(schedule, step)).toBeCloseTo(expected[i] as number, 12);
    });
  });

  it('falls in a straight line and stays at the final rate', () => {
    const schedule: LearningRateSchedule = { kind: 'linear', peak: 1, totalSteps: 4 };
    expect([0, 1, 2, 3, 4, 5].map((step) => learningRateAt(schedule, step))).toEqual([
      1, 0.75, 0.5, 0.25, 0, 0,
    ]);
  });

  it('refuses a run of no steps', () => {
    expect(() => learningRateAt({ kind: 'linear', peak: 1, totalSteps: 0 }, 0)).toThrow(ConfigError);
  });
});

describe('linearAt', () => {
  it('rests before, moves between, rests after', () => {
    const schedule = { from: 1, to: 3, startStep: 10, endStep: 20 };
    expect([0, 10, 15, 20, 99].map((step) => linearAt(schedule, step))).toEqual([1, 1, 2, 3, 3]);
  });

  it('jumps when start and end are the same step', () => {
    const schedule = { from: 0, to: 1, startStep: 5, endStep: 5 };
    expect([4, 5].map((step) => linearAt(schedule, step))).toEqual([0, 1]);
  });

  it('refuses to end before it starts', () => {
    expect(() => linearAt({ from: 0, to: 1, startStep: 5, endStep: 4 }, 0)).toThrow(ConfigError);
  });
});
