import { describe, expect, it } from 'vitest';
import { CheckpointError, ConfigError, type RewardValue, Rng } from '../../../src/core/index.ts';
import {
  type DifficultyConfig,
  DifficultySampler,
  difficultyConfigSchema,
  difficultyWeight,
  drawProbabilities,
  groupSuccess,
  successConfigSchema,
} from '../../../src/rl/index.ts';

const ok = (...values: number[]): RewardValue[] => values.map((value) => ({ status: 'ok', value }));
const missing: RewardValue = { status: 'missing', reason: 'timeout' };
const configOf = (settings: object = {}): DifficultyConfig =>
  difficultyConfigSchema.parse({ kind: 'recent-success', ...settings }) as DifficultyConfig;

describe('groupSuccess', () => {
  const passRate = successConfigSchema.parse({ kind: 'pass-rate', above: 0.99 });

  it('is the share of rewards above the threshold', () => {
    expect(groupSuccess(ok(1, 0.5, 0.99, 1), passRate)).toBe(0.5);
  });

  it('is the mean reward on its scale, cut to it', () => {
    const mean = successConfigSchema.parse({ kind: 'mean-reward', low: 0.5, high: 1.5 });
    expect(groupSuccess(ok(0.5, 1), mean)).toBe(0.25);
    expect(groupSuccess(ok(-3), mean)).toBe(0);
    expect(groupSuccess(ok(9), mean)).toBe(1);
  });

  it('leaves missing and NaN rewards out, and has no value without others', () => {
    expect(groupSuccess([...ok(1, 0, Number.NaN), missing], passRate)).toBe(0.5);
    expect(groupSuccess([missing], passRate)).toBeNull();
    expect(groupSuccess([], passRate)).toBeNull();
  });
});

describe('difficultyWeight', () => {
  it('is 4 p (1 - p) or 1 - p, and 1 for the untried', () => {
    expect([0, 0.25, 0.5, 1].map((p) => difficultyWeight(p, 'learnability'))).toEqual([0, 0.75, 1, 0]);
    expect([0, 0.25, 1].map((p) => difficultyWeight(p, 'failure'))).toEqual([1, 0.75, 0]);
    expect(difficultyWeight(null, 'learnability')).toBe(1);
    expect(difficultyWeight(null, 'failure')).toBe(1);
  });

  it('refuses what is no share', () => {
    expect(() => difficultyWeight(Number.NaN, 'failure')).toThrow(RangeError);
    expect(() => difficultyWeight(1.01, 'failure')).toThrow(RangeError);
  });
});

describe('drawProbabilities', () => {
  it('mixes the weights with the uniform distribution', () => {
    // 0.3 / 3 + 0.7 * (1, 0, 1) / 2
    const [a, b, c] = drawProbabilities([1, 0, 1], 0.3);
    expect(a).toBeCloseTo(0.45, 12);
    expect(b).toBeCloseTo(0.1, 12);
    expect(c).toBeCloseTo(0.45, 12);
  });

  it('is uniform where no prompt has a weight', () => {
    expect(drawProbabilities([0, 0, 0, 0], 0.1)).toEqual([0.25, 0.25, 0.25, 0.25]);
    expect(drawProbabilities([7], 0.1)[0]).toBeCloseTo(1, 12);
    expect(drawProbabilities([], 0.1)).toEqual([]);
  });

  it('refuses weights that are none', () => {
    expect(() => drawProbabilities([1, Number.NaN], 0.1)).toThrow(RangeError);
    expect(() => drawProbabilities([-1], 0.1)).toThrow(RangeError);
    expect(() => drawProbabilities([1], 0)).toThrow(RangeError);
  });
});

describe('DifficultySampler', () => {
  it('forgets exponentially', () => {
    const sampler = new DifficultySampler(configOf(), ['a']);
    expect(sampler.success('a')).toBeNull();
    const successes = [1, 0, 1].map((reward) => {
      sampler.observe('a', ok(reward));
      return sampler.success('a');
    });
    expect(successes).toEqual([1, 0.5, 0.75]);
  });

  it('forgets all but a window', () => {
    const sampler = new DifficultySampler(configOf({ memory: { kind: 'window', groups: 2 } }), ['a']);
    const successes = [1, 0, 0, 1].map((reward) => {
      sampler.observe('a', ok(reward));
      return sampler.success('a');
    });
    expect(successes).toEqual([1, 0.5, 0, 0.5]);
  });

  it('learns nothing from a group without rewards', () => {
    const sampler = new DifficultySampler(configOf(), ['a']);
    sampler.observe('a', [missing, missing]);
    expect(sampler.success('a')).toBeNull();
  });

  /** Prompt b is always solved: probabilities 0.45, 0.1, 0.45. */
  function solvedB(): DifficultySampler {
    const sampler = new DifficultySampler(configOf({ floor: 0.3 }), ['a', 'b', 'c']);
    sampler.observe('a', ok(0, 1));
    sampler.observe('b', ok(1, 1));
    return sampler;
  }

  it('draws by its probabilities, without drawing a prompt twice', () => {
    const sampler = solvedB();
    const rng = new Rng('draws');
    const rounds = 4000;
    let [first, within] = [0, 0];
    for (let i = 0; i < rounds; i++) {
      const pair = sampler.draw(2, rng);
      expect(new Set(pair).size).toBe(2);
      if (pair[0] === 'b') first++;
      if (pair.includes('b')) within++;
    }
    // Second after a or c: 2 * 0.45 * 0.1 / 0.55. Bounds are four standard deviations.
    expect(Math.abs(first / rounds - 0.1)).toBeLessThan(0.019);
    expect(Math.abs(within / rounds - (0.1 + 0.9 * (0.1 / 0.55)))).toBeLessThan(0.028);
  });

  it('draws all prompts, none, and not more', () => {
    const sampler = solvedB();
    expect(sampler.draw(3, new Rng(1)).sort()).toEqual(['a', 'b', 'c']);
    expect(sampler.draw(0, new Rng(1))).toEqual([]);
    expect(() => sampler.draw(4, new Rng(1))).toThrow(ConfigError);
  });

  it('continues from its state as if undisturbed', () => {
    const sampler = solvedB();
    const other = new DifficultySampler(configOf({ floor: 0.3 }), ['a', 'b', 'c']);
    other.restore(JSON.parse(JSON.stringify(sampler.state())));
    for (const one of [sampler, other]) one.observe('a', ok(1, 1));
    expect(other.success('a')).toBe(0.75);
    expect(other.draw(3, new Rng(5))).toEqual(sampler.draw(3, new Rng(5)));
  });

  it('refuses the state of other data', () => {
    const other = new DifficultySampler(configOf(), ['x']);
    expect(() => other.restore(solvedB().state())).toThrow(CheckpointError);
  });

  it('refuses no prompts, prompts that are there twice and unknown ones', () => {
    expect(() => new DifficultySampler(configOf(), [])).toThrow(ConfigError);
    expect(() => new DifficultySampler(configOf(), ['a', 'a'])).toThrow(ConfigError);
    expect(() => solvedB().observe('z', ok(1))).toThrow(RangeError);
  });
});
