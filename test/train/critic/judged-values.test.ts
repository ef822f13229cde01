import { expect, it } from 'vitest';
import type { RewardValue } from '../../../src/core/index.ts';
import { grpoConfigSchema } from '../../../src/train/index.ts';
import { judgeRollouts } from '../../../src/train/policy-samples.ts';
import type { RolloutSample } from '../../../src/train/rollouts.ts';

const sample = (group: string, tokens: number, reward: RewardValue): RolloutSample =>
  ({
    group,
    reward,
    prompt: {},
    completion: {
      tokenIds: new Array<number>(tokens).fill(7),
      logProbabilities: new Array<number>(tokens).fill(-1),
      finishReason: 'stop',
      version: 0,
      text: '',
    },
    parts: { terms: {} },
    extra: {},
  }) as unknown as RolloutSample;

const ok = (value: number): RewardValue => ({ status: 'ok', value });
const SAMPLES = [
  sample('a', 2, ok(1)),
  sample('a', 3, ok(0.25)),
  sample('b', 1, ok(2)),
  sample('b', 2, { status: 'missing', reason: 'gone' }),
];
const ZEROS = SAMPLES.map(({ completion }) => new Float64Array(completion.tokenIds.length));

function judge(advantage: object, values: Float64Array[] | null) {
  const config = grpoConfigSchema.parse({ run: 'r', model: 'm', dataset: 'd', advantage });
  const judged = judgeRollouts(SAMPLES, {
    config,
    weights: { rubric: {} as never, extra: {} },
    truncated: 'keep',
    penalty: null,
    greedyRewards: null,
    values,
  });
  return { ...judged, samples: judged.groups.flatMap((group) => group.samples) };
}

it('with lambda 1 and a head that tells 0, every token has the reward of its answer', () => {
  const { samples, metrics } = judge({ kind: 'gae', lambda: 1, whiten: false }, ZEROS);
  expect(samples.map(({ advantages }) => advantages)).toEqual([[1, 1], [0.25, 0.25, 0.25], [2]]);
  expect(samples.map(({ critic }) => critic!.returns)).toEqual([[1, 1], [0.25, 0.25, 0.25], [2]]);
  expect(metrics['values/mean']).toBe(0);
  expect(metrics.explained_variance).toBe(0);
});

it('whitened, that is REINFORCE++', () => {
  const gae = judge({ kind: 'gae', lambda: 1 }, ZEROS).samples.flatMap(({ advantages }) => advantages);
  const plain = judge({ kind: 'reinforce++' }, null);
  plain.samples
    .flatMap(({ advantages }) => advantages)
    .forEach((value, t) => {
      expect(gae[t]!).toBeCloseTo(value, 12);
    });
  expect(plain.metrics).not.toHaveProperty('values/mean');
  expect(plain.samples.map(({ critic }) => critic)).toEqual([undefined, undefined, undefined]);
});

it('keeps the values that judged a sample beside its returns, and leaves out one without a reward', () => {
  const values = [[0.5, 0.75], [0, 0.1, 0.2], [1.5], [9, 9]].map((own) => Float64Array.from(own));
  const { samples, metrics } = judge({ kind: 'gae', lambda: 0, whiten: false }, values);
  // One step ahead: what the next value says, and at the last token the reward.
  expect(samples.map(({ critic }) => critic)).toEqual([
    { values: [0.5, 0.75], returns: [0.75, 1] },
    { values: [0, 0.1, 0.2], returns: [0.1, expect.closeTo(0.2, 12), expect.closeTo(0.25, 12)] },
    { values: [1.5], returns: [2] },
  ]);
  expect(samples[0]!.advantages).toEqual([0.25, 0.25]);
  expect(metrics['values/mean']).toBeCloseTo((0.5 + 0.75 + 0 + 0.1 + 0.2 + 1.5) / 6, 12);
});
