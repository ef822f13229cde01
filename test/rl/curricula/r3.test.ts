import { describe, expect, it } from 'vitest';
import { ConfigError, Rng, type TokenRole } from '../../../src/core/index.ts';
import {
  r3ConfigSchema,
  r3Reward,
  r3StageAt,
  r3StartAt,
  r3StartOfStage,
  r3Starts,
  turnSteps,
} from '../../../src/rl/index.ts';

describe('r3Starts', () => {
  it.each([
    { tokens: 10, starts: 5, expected: [8, 6, 4, 2, 0] },
    // 7 * 2 / 3 = 4.67, 7 / 3 = 2.33
    { tokens: 7, starts: 3, expected: [5, 2, 0] },
    { tokens: 4, starts: 4, expected: [3, 2, 1, 0] },
    // 2.4, 1.8, 1.2, 0.6, 0: two of them twice
    { tokens: 3, starts: 5, expected: [2, 1, 0] },
    // 4 * 19 / 20 = 3.8 would give the whole demonstration
    { tokens: 4, starts: 20, expected: [3, 2, 1, 0] },
    { tokens: 10, starts: 1, expected: [0] },
    { tokens: 1, starts: 5, expected: [0] },
    { tokens: 0, starts: 5, expected: [0] },
  ])('cuts $tokens tokens for $starts starts at $expected', ({ tokens, starts, expected }) => {
    expect(r3Starts(tokens, starts)).toEqual(expected);
  });

  it('cuts between steps alone where steps are given', () => {
    // 4 steps, 2 starts: 2 steps given, then none.
    expect(r3Starts([0, 12, 30, 41], 2)).toEqual([30, 0]);
    expect(r3Starts([0, 12, 30, 41], 4)).toEqual([41, 30, 12, 0]);
    expect(r3Starts([0], 3)).toEqual([0]);
    expect(r3Starts([], 3)).toEqual([0]);
  });

  it('refuses what is no demonstration', () => {
    expect(() => r3Starts([0, 5, 5], 2)).toThrow(RangeError);
    expect(() => r3Starts([3, 5], 2)).toThrow(RangeError);
    expect(() => r3Starts(-1, 2)).toThrow(RangeError);
    expect(() => r3Starts(2.5, 2)).toThrow(RangeError);
    expect(() => r3Starts(5, 0)).toThrow(ConfigError);
  });

  it('refuses a stage that there is not', () => {
    expect(() => r3StartOfStage(10, 0, 5)).toThrow('allowed are 1 to 5');
    expect(() => r3StartOfStage(10, 6, 5)).toThrow('allowed are 1 to 5');
  });
});

describe('r3StageAt', () => {
  it('shares the steps equally', () => {
    const stages = Array.from({ length: 10 }, (_, step) => r3StageAt(5, step, 10));
    expect(stages).toEqual([1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
  });

  it('stays at the last stage beyond the end', () => {
    expect(r3StageAt(5, 10, 10)).toBe(5);
    expect(r3StageAt(5, 1000, 10)).toBe(5);
  });

  it('is always the last stage where there is one', () => {
    expect([0, 5, 9].map((step) => r3StageAt(1, step, 10))).toEqual([1, 1, 1]);
  });

  it('ends with the task itself even in a run of fewer steps than stages', () => {
    expect([0, 1].map((step) => r3StageAt(5, step, 2))).toEqual([1, 3]);
    expect(r3StageAt(5, 0, 1)).toBe(1);
  });

  it('refuses a negative step and an empty run', () => {
    expect(() => r3StageAt(5, -1, 10)).toThrow(RangeError);
    expect(() => r3StageAt(5, Number.NaN, 10)).toThrow(RangeError);
    expect(() => r3StageAt(5, 0, 0)).toThrow(ConfigError);
  });
});

describe('r3StartAt', () => {
  const rng = new Rng('r3');
  const moment = { step: 0, totalSteps: 9, id: 'a', rng };

  it('gives nothing when off', () => {
    expect(r3StartAt(r3ConfigSchema.parse({ kind: 'off' }), 10, moment)).toBe(0);
  });

  it('slides from the end to the beginning when staged', () => {
    const config = r3ConfigSchema.parse({ kind: 'staged', starts: 3 });
    const starts = [0, 2, 3, 5, 6, 8, 9, 99].map((step) => r3StartAt(config, 9, { ...moment, step }));
    expect(starts).toEqual([6, 6, 3, 3, 0, 0, 0, 0]);
  });

  it('draws every start equally often when mixed', () => {
    const config = r3ConfigSchema.parse({ kind: 'mixed', starts: 3 });
    const counts = new Map<number, number>();
    for (let i = 0; i < 3000; i++) {
      const start = r3StartAt(config, 9, { ...moment, step: i % 100, id: `prompt ${i}` });
      counts.set(start, (counts.get(start) ?? 0) + 1);
    }
    expect([...counts.keys()].sort()).toEqual([0, 3, 6]);
    // Four standard deviations of a binomial count, sqrt(3000 / 3 * 2 / 3) = 25.8.
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(104);
  });

  it('is the same however often the random source was used before', () => {
    const config = r3ConfigSchema.parse({ kind: 'mixed', starts: 50 });
    const draw = () => Array.from({ length: 20 }, (_, step) => r3StartAt(config, 50, { ...moment, step }));
    const first = draw();
    rng.uniform();
    expect(draw()).toEqual(first);
    expect(new Set(first).size).toBeGreaterThan(1);
  });
});

describe('turnSteps', () => {
  it('begins a step at each turn, with what was observed before the first', () => {
    const roles: TokenRole[] = [
      ...['observation', 'action', 'action', 'observation', 'observation', 'action'],
      ...['observation', 'action'],
    ] as TokenRole[];
    expect(turnSteps(roles)).toEqual([0, 5, 7]);
  });

  it('has no step without an action', () => {
    expect(turnSteps([])).toEqual([]);
    expect(turnSteps(['observation'])).toEqual([]);
  });
});

describe('r3Reward', () => {
  it('pays a part for a wrong answer that can be read', () => {
    expect((['correct', 'wrong', 'unreadable'] as const).map((outcome) => r3Reward(outcome, 0.1))).toEqual([
      1, 0.1, 0,
    ]);
  });

  it('refuses to pay a wrong answer like a right one', () => {
    expect(() => r3Reward('wrong', 1)).toThrow(ConfigError);
    expect(() => r3Reward('correct', Number.NaN)).toThrow(ConfigError);
  });
});

describe('r3ConfigSchema', () => {
  it('has the constants of the paper', () => {
    expect(r3ConfigSchema.parse({ kind: 'mixed' })).toEqual({ kind: 'mixed', starts: 5, wrongAnswer: 0.1 });
  });

  it('refuses settings of a curriculum that is off', () => {
    expect(() => r3ConfigSchema.parse({ kind: 'off', starts: 5 })).toThrow('starts');
  });
});
