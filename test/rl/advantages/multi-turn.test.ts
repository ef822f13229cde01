import { describe, expect, it } from 'vitest';
import { ConfigError, type RewardValue, Rng } from '../../../src/core/index.ts';
import {
  type AdvantageBatch,
  advantageConfigSchema,
  estimateAdvantages,
  generalisedAdvantages,
  reinforcePlusPlusAdvantages,
  returnsToGo,
  terminalRewards,
  whitenTokens,
} from '../../../src/rl/index.ts';

const ok = (...values: number[]): RewardValue[] => values.map((value) => ({ status: 'ok', value }));
const close = (ours: ArrayLike<number>, expected: readonly number[]) => {
  expect(ours.length).toBe(expected.length);
  expected.forEach((value, i) => {
    expect(ours[i]).toBeCloseTo(value, 10);
  });
};

// Two turns of two tokens, an observation of two between them, padding at the end.
const actions = [1, 1, 0, 0, 1, 1, 0];

describe('terminalRewards', () => {
  it('puts the reward on the last action token, not on the observation after it', () => {
    expect([...terminalRewards(actions, 5)]).toEqual([0, 0, 0, 0, 0, 5, 0]);
  });

  it('refuses a response without action', () => {
    expect(() => terminalRewards([0, 0], 1)).toThrow(RangeError);
  });
});

describe('returnsToGo', () => {
  const trajectory = { actions, rewards: terminalRewards(actions, 8) };

  it('discounts at action tokens alone', () => {
    close(returnsToGo(trajectory, { discount: 0.5 }), [1, 2, 0, 0, 4, 8, 0]);
  });

  it('discounts once per turn', () => {
    close(returnsToGo(trajectory, { discount: 0.5, per: 'turn' }), [4, 4, 0, 0, 8, 8, 0]);
  });

  it('adds rewards of earlier turns', () => {
    // 3 at the end of the first turn: 3 + 0.5 * 8 = 7 there.
    const rewards = [0, 3, 0, 0, 0, 8, 0];
    close(returnsToGo({ actions, rewards }, { discount: 0.5, per: 'turn' }), [7, 7, 0, 0, 8, 8, 0]);
  });

  it('refuses a reward that no action would receive', () => {
    expect(() => returnsToGo({ actions, rewards: [0, 0, 0, 1, 0, 0, 0] })).toThrow('token 3');
  });
});

describe('generalisedAdvantages', () => {
  const values = [0.1, 0.2, 9, -9, 0.4, 0.8, 9];

  it('follows the recursion over action tokens', () => {
    const { advantages, returns } = generalisedAdvantages(
      { actions, rewards: terminalRewards(actions, 1), values },
      { discount: 0.9, lambda: 0.5 },
    );
    // delta 5: 1 - 0.8 = 0.2. delta 4: 0.72 - 0.4 = 0.32. delta 1: 0.36 - 0.2 = 0.16. delta 0: 0.18 - 0.1 = 0.08.
    const a5 = 0.2;
    const a4 = 0.32 + 0.45 * a5;
    const a1 = 0.16 + 0.45 * a4;
    const a0 = 0.08 + 0.45 * a1;
    close(advantages, [a0, a1, 0, 0, a4, a5, 0]);
    close(returns, [a0 + 0.1, a1 + 0.2, 0, 0, a4 + 0.4, 1, 0]);
  });

  it('equals the sum of discounted errors on a response without observations', () => {
    const rng = new Rng('gae');
    const length = 9;
    const draw = () => Array.from({ length }, () => rng.uniform(-1, 1));
    const [rewards, own] = [draw(), draw()];
    const [discount, lambda] = [0.95, 0.7];
    const { advantages } = generalisedAdvantages(
      { actions: new Array(length).fill(1), rewards, values: own },
      { discount, lambda },
    );
    const delta = (t: number) => rewards[t]! + discount * (own[t + 1] ?? 0) - own[t]!;
    const expected = rewards.map((_, t) => {
      let sum = 0;
      for (let s = t; s < length; s++) sum += (discount * lambda) ** (s - t) * delta(s);
      return sum;
    });
    close(advantages, expected);
  });

  it('is the same with observations cut out', () => {
    const kept = actions.flatMap((isAction, t) => (isAction ? [t] : []));
    const whole = generalisedAdvantages(
      { actions, rewards: terminalRewards(actions, 1), values },
      { discount: 0.9, lambda: 0.5 },
    );
    const cut = generalisedAdvantages(
      { actions: [1, 1, 1, 1], rewards: [0, 0, 0, 1], values: kept.map((t) => values[t]!) },
      { discount: 0.9, lambda: 0.5 },
    );
    expect(kept.map((t) => whole.advantages[t])).toEqual([...cut.advantages]);
  });

  it('with lambda 1 is the return minus the value', () => {
    const trajectory = { actions, rewards: terminalRewards(actions, 1), values };
    const options = { discount: 0.5, per: 'turn' } as const;
    const { advantages } = generalisedAdvantages(trajectory, { ...options, lambda: 1 });
    const returns = returnsToGo(trajectory, options);
    close(
      advantages,
      actions.map((isAction, t) => (isAction ? returns[t]! - values[t]! : 0)),
    );
  });
});

describe('whitenTokens', () => {
  it('has mean 0 and unbiased variance 1 over the action tokens of all responses', () => {
    // Actions 1, 3, 5: mean 3, unbiased variance 4.
    const whitened = whitenTokens([
      { values: [1, 100, 3], actions: [1, 0, 1] },
      { values: [5, -7], actions: [1, 0] },
    ]);
    close(
      [...whitened[0]!, ...whitened[1]!],
      [-1, 0, 0, 1, 0].map((v) => v / Math.sqrt(1 + 0.25e-8)),
    );
  });

  it('is exactly 0 for equal values and for a single token', () => {
    expect([...whitenTokens([{ values: [0.1, 0.1, 0.1], actions: [1, 1, 1] }])[0]!]).toEqual([0, 0, 0]);
    expect([...whitenTokens([{ values: [7], actions: [1] }])[0]!]).toEqual([0]);
  });
});

describe('reinforcePlusPlusAdvantages', () => {
  it('whitens the returns of the batch', () => {
    // Returns 2 at two tokens and 0 at two: mean 1, unbiased variance 4/3.
    const trajectories = [
      { actions: [1, 1], rewards: [0, 2] },
      { actions: [1, 0, 1], rewards: [0, 0, 0] },
    ];
    const scale = 1 / Math.sqrt(4 / 3 + 1e-8);
    const [first, second] = reinforcePlusPlusAdvantages(trajectories);
    close(first!, [scale, scale]);
    close(second!, [-scale, 0, -scale]);
  });
});

describe('estimateAdvantages', () => {
  const batch: AdvantageBatch = {
    rewards: [...ok(1, 0), { status: 'missing', reason: 'timed out' }],
    groupIds: ['a', 'a', 'a'],
    actions: [actions, [1, 1], [1]],
    values: [new Array(7).fill(0), [0, 0], [0]],
  };

  it('puts the advantage of a sample on its action tokens', () => {
    const { advantages } = estimateAdvantages({ kind: 'grpo', scale: 'none', epsilon: 1e-4 }, batch);
    expect(advantages.map((row) => row && [...row])).toEqual([
      actions.map((isAction) => (isAction ? 0.5 : 0)),
      [-0.5, -0.5],
      null,
    ]);
  });

  it.each(['reinforce++', 'reinforce++-baseline', 'gae'])('%s leaves the missing reward out', (kind) => {
    const { advantages, counts } = estimateAdvantages(advantageConfigSchema.parse({ kind }), batch);
    expect(advantages[2]).toBeNull();
    expect(counts.missing).toBe(1);
    // The others are whitened among themselves: the mean over their six tokens is 0.
    const sum = [...advantages[0]!, ...advantages[1]!].reduce((total, value) => total + value, 0);
    expect(sum).toBeCloseTo(0, 10);
  });

  it('adds the rewards within the response to the terminal one', () => {
    const { returns } = estimateAdvantages(
      { kind: 'gae', discount: 1, per: 'token', lambda: 1, whiten: false },
      { ...batch, tokenRewards: [[0, -0.25, 0, 0, 0, 0, 0], [0, 0], [0]] },
    );
    close(returns![0]!, [0.75, 0.75, 0, 0, 1, 1, 0]);
  });

  it('needs no group where nothing is compared', () => {
    const single = { ...batch, groupIds: ['a', 'b', 'c'] };
    const result = estimateAdvantages(advantageConfigSchema.parse({ kind: 'reinforce++' }), single);
    expect(result.advantages[0]).not.toBeNull();
    const baseline = advantageConfigSchema.parse({ kind: 'reinforce++-baseline' });
    expect(() => estimateAdvantages(baseline, single)).toThrow(ConfigError);
  });

  it('says what an estimator lacks', () => {
    const { values: _, ...without } = batch;
    expect(() => estimateAdvantages(advantageConfigSchema.parse({ kind: 'gae' }), without)).toThrow(
      'gae needs values',
    );
  });
});
