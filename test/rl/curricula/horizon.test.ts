import { describe, expect, it } from 'vitest';
import { horizonAt, horizonConfigSchema, PUBLISHED_HORIZONS } from '../../../src/rl/index.ts';

const at = (settings: object, steps: readonly number[]) => {
  const config = horizonConfigSchema.parse(settings);
  return steps.map((step) => horizonAt(config, step));
};

describe('horizonAt', () => {
  it('steps up at the borders of the phases and stays at the last', () => {
    const { rounds, stepsPerPhase } = PUBLISHED_HORIZONS.webarena;
    expect(at({ kind: 'scaling-inter', rounds, stepsPerPhase }, [0, 79, 80, 159, 160, 5000])).toEqual([
      8, 8, 12, 12, 15, 15,
    ]);
  });

  it('has 10, 20 and 30 turns in phases of 100 steps where nothing is said', () => {
    expect(at({ kind: 'scaling-inter' }, [0, 99, 100, 199, 200, 300])).toEqual([10, 10, 20, 20, 30, 30]);
  });

  it('has one phase for one entry', () => {
    expect(at({ kind: 'scaling-inter', rounds: [7], stepsPerPhase: 1 }, [0, 1, 100])).toEqual([7, 7, 7]);
  });

  it('is constant when fixed', () => {
    expect(at({ kind: 'fixed' }, [0, 1000])).toEqual([15, 15]);
  });

  it('refuses a step before the first', () => {
    expect(() => at({ kind: 'scaling-inter' }, [-1])).toThrow(RangeError);
    expect(() => at({ kind: 'fixed' }, [Number.NaN])).toThrow(RangeError);
  });
});

describe('horizonConfigSchema', () => {
  it('refuses phases that fall, and none', () => {
    expect(() => horizonConfigSchema.parse({ kind: 'scaling-inter', rounds: [10, 9] })).toThrow('fall');
    expect(() => horizonConfigSchema.parse({ kind: 'scaling-inter', rounds: [] })).toThrow();
  });

  it('accepts every published schedule', () => {
    for (const { rounds, stepsPerPhase } of Object.values(PUBLISHED_HORIZONS)) {
      const config = horizonConfigSchema.parse({ kind: 'scaling-inter', rounds, stepsPerPhase });
      expect(horizonAt(config, 2 * stepsPerPhase)).toBe(rounds[2]);
    }
  });
});
