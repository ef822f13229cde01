import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { RewardValue } from '../../src/core/index.ts';
import { algorithmSettings } from '../../src/rl/index.ts';
import { judgeRollouts } from '../../src/train/policy-samples.ts';
import type { RolloutSample } from '../../src/train/rollouts.ts';

const schema = z.strictObject(algorithmSettings({ klCoefficient: 0 }));
const ok = (value: number): RewardValue => ({ status: 'ok', value });

/** An answer of three tokens to the prompt of its group. */
const sample = (group: string, reward: RewardValue, finishReason: 'stop' | 'length' = 'stop') =>
  ({
    group,
    reward,
    prompt: { sequence: { tokenIds: [1], roles: ['prompt'], images: [] } },
    completion: { tokenIds: [5, 6, 7], logProbabilities: [-1, -1, -1], text: '', finishReason, version: 0 },
    parts: { terms: { format: reward } },
    extra: {},
  }) as unknown as RolloutSample;

const judge = (
  samples: readonly RolloutSample[],
  {
    advantage = { kind: 'grpo', scale: 'none' } as object,
    truncated = 'keep' as 'keep' | 'mask',
    tokenRewards = null as number[][] | null,
    greedyRewards = null as RewardValue[] | null,
  } = {},
) => {
  const { groups, metrics } = judgeRollouts(samples, {
    config: schema.parse({ advantage }),
    weights: { rubric: { format: 1 } as never, extra: {} },
    truncated,
    penalty:
      tokenRewards === null
        ? null
        : { tokenRewards: tokenRewards.map((row) => Float64Array.from(row)), meanKl: 0.5 },
    greedyRewards,
    values: null,
  });
  return { advantages: groups.flatMap((group) => group.samples.map((one) => one.advantages)), metrics };
};
const everywhere = (value: number) => [value, value, value].map((one) => expect.closeTo(one, 12));

describe('judgeRollouts', () => {
  it('takes the penalty of all tokens off a reward before groups are compared', () => {
    // 3 - 0.6 = 2.4 and 1 - 0 = 1: the mean is 1.7.
    const { advantages, metrics } = judge([sample('a', ok(3)), sample('a', ok(1))], {
      tokenRewards: [
        [-0.1, -0.2, -0.3],
        [0, 0, 0],
      ],
    });
    expect(advantages).toEqual([everywhere(0.7), everywhere(-0.7)]);
    expect(metrics.kl).toBe(0.5);
  });

  it('reinforce++ lets each token carry the penalties from itself on', () => {
    // Rewards to go, 2 - 0.6, 2 - 0.5, 2 - 0.3, whitened: their mean is 23 / 15, their differences stay in ratio.
    const { advantages } = judge([sample('a', ok(2))], {
      advantage: { kind: 'reinforce++' },
      tokenRewards: [[-0.1, -0.2, -0.3]],
    });
    const [a, b, c] = advantages[0] as number[];
    expect((c! - b!) / (b! - a!)).toBeCloseTo(0.2 / 0.1, 6);
    expect(a! + b! + c!).toBeCloseTo(0, 6);
  });

  it('ReMax compares with the greedy answer, not with the group', () => {
    const { advantages } = judge([sample('a', ok(3)), sample('a', ok(1))], {
      advantage: { kind: 'remax' },
      greedyRewards: [ok(2.5), ok(2.5)],
    });
    expect(advantages).toEqual([everywhere(0.5), everywhere(-1.5)]);
  });

  it('a missing reward and a masked answer are left out, and a masked one still counts in its group', () => {
    const missing: RewardValue = { status: 'missing', reason: 'none' };
    const samples = [sample('a', ok(4)), sample('a', missing), sample('a', ok(1), 'length')];
    const { advantages, metrics } = judge(samples, { truncated: 'mask' });
    expect(advantages).toEqual([everywhere(1.5)]);
    expect(metrics).toMatchObject({ 'group/missing': 1, 'samples/kept': 1, frac_reward_zero_std: 0 });
  });

  it('a step without samples has no share of equal groups', () => {
    expect(judge([]).metrics).not.toHaveProperty('frac_reward_zero_std');
  });
});
