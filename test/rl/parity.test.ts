import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RewardValue, Rng } from '../../src/core/index.ts';
import { startEngine, stopEngine, tf } from '../../src/engine/index.ts';
import {
  AdaptiveKlCoefficient,
  type AdvantageConfig,
  type Aggregation,
  advantageConfigSchema,
  batchTotals,
  dpoLoss,
  estimateAdvantages,
  gdpoAdvantages,
  globalDenominator,
  importanceConfigSchema,
  importanceCorrection,
  offPolicySequenceMask,
  type PolicyLossOptions,
  policyLoss,
  policyLossConfigSchema,
  preparePolicyLoss,
  tokenWeights,
  topEntropyMask,
  valueLoss,
} from '../../src/rl/index.ts';

/** Recorded by scripts/reference/record-rl.py from the libraries themselves, in float64. */
interface Recorded {
  batch: Record<
    'old' | 'current' | 'sampler' | 'reference' | 'entropies' | 'values' | 'newValues' | 'targets',
    number[][]
  > & {
    mask: number[][];
    groups: string[];
    tokenAdvantages: number[][];
    advantages: number[];
    rewards: number[];
    greedy: number[];
    terms: [number[], number[]];
  };
  cases: Record<string, unknown>;
}

const { batch, cases } = JSON.parse(
  readFileSync(new URL('fixtures/parity.json', import.meta.url), 'utf8'),
) as Recorded;
const TOLERANCE = 1e-5;
const LENGTH = batch.mask[0]!.length;

/** The action tokens of a [B, T] table, row after row: the flat vectors that the losses read. */
const flat = (table: readonly (readonly number[])[]): number[] =>
  table.flatMap((row, i) => row.filter((_, t) => batch.mask[i]![t] === 1));
const lengths = batch.mask.map((row) => row.reduce((sum, m) => sum + m, 0));
const perToken = (values: readonly number[]): number[] =>
  flat(batch.mask.map((row, i) => row.map(() => values[i]!)));
const vector = (values: readonly number[]) => tf.tensor1d([...values]);
const ok = (values: readonly number[]): RewardValue[] => values.map((value) => ({ status: 'ok', value }));

const expectClose = (ours: ArrayLike<number>, theirs: readonly number[]) => {
  expect(ours.length).toBe(theirs.length);
  theirs.forEach((value, i) => {
    expect(Math.abs(ours[i]! - value), `entry ${i}: ${ours[i]} against ${value}`).toBeLessThan(TOLERANCE);
  });
};

const expectLoss = (name: string, value: number, gradient: ArrayLike<number>) => {
  const recorded = cases[name] as { loss: number; gradient: number[][] };
  expect(Math.abs(value - recorded.loss), `loss ${value} against ${recorded.loss}`).toBeLessThan(TOLERANCE);
  expectClose(gradient, flat(recorded.gradient));
};

interface LossCase {
  loss: unknown;
  aggregation: Aggregation;
  perSequence?: boolean;
  options?: Omit<PolicyLossOptions, 'surrogate'>;
  factors?: number[];
}

function ourLoss({ loss, aggregation, perSequence = false, options = {}, factors }: LossCase) {
  const advantages = perSequence ? perToken(batch.advantages) : flat(batch.tokenAdvantages);
  const { loss: surrogate, selected } = preparePolicyLoss(
    policyLossConfigSchema.parse(loss),
    { logProbabilities: flat(batch.current), oldLogProbabilities: flat(batch.old), advantages },
    new Rng('parity'),
  );
  const totals = batchTotals(lengths);
  return tf.tidy(() => {
    const { value, grad } = tf.valueAndGrad(
      (current: tf.Tensor) =>
        policyLoss(
          {
            logProbabilities: current as tf.Tensor1D,
            oldLogProbabilities: vector(flat(batch.old)),
            referenceLogProbabilities: vector(flat(batch.reference)),
            advantages: vector(advantages),
            importanceWeights: factors === undefined ? null : vector(factors),
            weights: tf.tensor1d(tokenWeights(aggregation, lengths)),
            denominator: globalDenominator(aggregation, totals, LENGTH),
            totalTokens: totals.tokens,
            tokensPerSequence: lengths,
            selected: selected === null ? null : tf.tensor1d(Float32Array.from(selected)),
          },
          { ...options, surrogate },
        ).loss,
    )(vector(flat(batch.current)));
    return { value: value.dataSync()[0] as number, gradient: grad.dataSync() };
  });
}

const higher = { kind: 'clip', epsilonHigh: 0.28 };
const LOSSES: Record<string, LossCase> = {
  'verl/clip': { loss: { kind: 'clip' }, aggregation: 'token-mean' },
  'verl/clip-higher-dual': { loss: { ...higher, dualClip: 1.5 }, aggregation: 'token-mean' },
  'verl/clip/seq-mean-token-mean': { loss: { kind: 'clip' }, aggregation: 'sequence-mean' },
  'verl/clip/seq-mean-token-sum-norm': { loss: { kind: 'clip' }, aggregation: 'constant' },
  'verl/gspo-token': {
    loss: { kind: 'gspo-token', epsilonLow: 0.1, epsilonHigh: 0.15 },
    aggregation: 'sequence-mean',
    perSequence: true,
  },
  'verl/sapo': { loss: { kind: 'sapo' }, aggregation: 'sequence-mean' },
  'verl/cispo': { loss: { kind: 'cispo', ratioLow: 0.8, ratioHigh: 1.3 }, aggregation: 'token-mean' },
  'verl/gmpo': {
    loss: { kind: 'gmpo', logRangeLow: 0.2, logRangeHigh: 0.3 },
    aggregation: 'sequence-mean',
    perSequence: true,
  },
  'verl/clip-cov': {
    loss: { kind: 'clip-cov', share: 1, covarianceLow: 0.1, covarianceHigh: 0.8 },
    aggregation: 'token-mean',
  },
  'verl/kl-cov': { loss: { kind: 'kl-cov', share: 0.2, coefficient: 0.5 }, aggregation: 'token-mean' },
  'trl/grpo': { loss: { kind: 'clip' }, aggregation: 'sequence-mean', perSequence: true },
  'trl/dapo': { loss: higher, aggregation: 'token-mean', perSequence: true },
  'trl/dr_grpo': { loss: { kind: 'clip' }, aggregation: 'constant', perSequence: true },
  'trl/grpo/kl': {
    loss: { kind: 'clip' },
    aggregation: 'sequence-mean',
    perSequence: true,
    options: { klCoefficient: 0.3 },
  },
  'trl/grpo/kl-corrected': {
    loss: { kind: 'clip' },
    aggregation: 'sequence-mean',
    perSequence: true,
    options: { klCoefficient: 0.3, klGradient: 'importance' },
  },
  'trl/gspo': {
    loss: { kind: 'gspo', epsilonLow: 0.1, epsilonHigh: 0.15 },
    aggregation: 'sequence-mean',
    perSequence: true,
  },
  'trl/cispo': {
    loss: { kind: 'cispo', ratioHigh: 1.3 },
    aggregation: 'token-mean',
    perSequence: true,
  },
  'trl/sapo': { loss: { kind: 'sapo' }, aggregation: 'sequence-mean', perSequence: true },
  'trl/grpo/top-entropy': {
    loss: { kind: 'clip' },
    aggregation: 'token-mean',
    perSequence: true,
    factors: [...topEntropyMask(flat(batch.entropies), 0.3)],
  },
  'trl/grpo/off-policy-mask': {
    loss: { kind: 'clip' },
    aggregation: 'sequence-mean',
    perSequence: true,
    factors: perToken([...keptSequences()]),
  },
  'trl/gmpo': {
    loss: { kind: 'gmpo', logRangeLow: 0.2, logRangeHigh: 0.3 },
    aggregation: 'sequence-mean',
    perSequence: true,
  },
};

function keptSequences(): Uint8Array {
  return offPolicySequenceMask(
    { sampler: flat(batch.sampler), current: flat(batch.current), lengths, advantages: batch.advantages },
    0.05,
  );
}

describe.each(['cpu', 'onnx'] as const)('losses and gradients of peers on %s', (backend) => {
  beforeAll(async () => {
    await startEngine({ backend, threads: 2 });
  });
  afterAll(stopEngine);

  it.each(Object.keys(LOSSES))('equal %s', (name) => {
    const { value, gradient } = ourLoss(LOSSES[name]!);
    expectLoss(name, value, gradient);
  });

  // Advantage 0 leaves the KL term alone; the sign of a zero advantage does not matter.
  it.each([
    ['verl/kl/k1', { klEstimator: 'k1' }],
    ['verl/kl/k2', { klEstimator: 'k2' }],
    ['verl/kl/k3', { klEstimator: 'k3' }],
    ['verl/kl/k3+', { klEstimator: 'k3', klGradient: 'k2' }],
  ] as const)('equal %s', (name, options) => {
    const none = flat(batch.mask).map(() => 0);
    const { value, gradient } = ourLoss({
      loss: { kind: 'clip' },
      aggregation: 'token-mean',
      factors: none,
      options: { ...options, klCoefficient: 1 },
    });
    expectLoss(name, value, gradient);
  });

  it('equal verl/value-loss', () => {
    const loss = (values: tf.Tensor) =>
      valueLoss(
        {
          values: values as tf.Tensor1D,
          oldValues: vector(flat(batch.values)),
          returns: vector(flat(batch.targets)),
          weights: tf.tensor1d(tokenWeights('token-mean', lengths)),
          denominator: batchTotals(lengths).tokens,
        },
        0.2,
      );
    const { value, grad } = tf.valueAndGrad(loss)(vector(flat(batch.newValues)));
    expectLoss('verl/value-loss', value.dataSync()[0] as number, grad.dataSync());
  });

  it('equal trl/dpo', () => {
    const sums = (values: tf.Tensor): [tf.Tensor1D, tf.Tensor1D] => {
      const ids = tf.tensor1d(
        lengths.flatMap((length, i) => Array.from({ length }, () => i)),
        'int32',
      );
      const perSequence = tf.unsortedSegmentSum(values, ids, 8) as tf.Tensor1D;
      return [tf.slice1d(perSequence, 0, 4), tf.slice1d(perSequence, 4, 4)];
    };
    const { value, grad } = tf.valueAndGrad((current: tf.Tensor) => {
      const [chosen, rejected] = sums(current);
      const [referenceChosen, referenceRejected] = sums(vector(flat(batch.reference)));
      return dpoLoss(
        { chosen, rejected, referenceChosen, referenceRejected, pairs: 4 },
        { beta: 0.3, labelSmoothing: 0 },
      ).loss;
    })(vector(flat(batch.current)));
    expectLoss('trl/dpo', value.dataSync()[0] as number, grad.dataSync());
  });
});

describe('advantages of verl', () => {
  const NAMES: Record<string, { [key: string]: unknown }> = {
    grpo: { kind: 'grpo', epsilon: 1e-6 },
    'dr-grpo': { kind: 'grpo', scale: 'none' },
    rloo: { kind: 'rloo' },
    opo: { kind: 'opo' },
    'best-of-group': { kind: 'best-of-group' },
    remax: { kind: 'remax' },
    'reinforce++': { kind: 'reinforce++', discount: 0.9 },
    'reinforce++-baseline': { kind: 'reinforce++-baseline' },
    gae: { kind: 'gae', discount: 0.9, lambda: 0.8 },
  };
  const estimate = (config: AdvantageConfig) =>
    estimateAdvantages(config, {
      rewards: ok(batch.rewards),
      groupIds: batch.groups,
      actions: batch.mask,
      values: batch.values,
      greedyRewards: ok(batch.greedy),
    });

  it.each(Object.keys(NAMES))('%s', (name) => {
    const { advantages } = estimate(advantageConfigSchema.parse(NAMES[name]));
    const recorded = cases[`verl/advantages/${name}`] as number[][];
    advantages.forEach((row, i) => {
      expectClose(row!, recorded[i]!);
    });
  });

  it('gae: the value targets', () => {
    const { returns } = estimate(advantageConfigSchema.parse(NAMES.gae));
    returns!.forEach((row, i) => {
      expectClose(row!, (cases['verl/returns/gae'] as number[][])[i]!);
    });
  });

  it('gdpo, up to its different scale: tokens instead of samples', () => {
    const { advantages } = gdpoAdvantages(
      [
        { name: 'x', weight: 1, rewards: ok(batch.terms[0]) },
        { name: 'y', weight: 0.5, rewards: ok(batch.terms[1]) },
      ],
      batch.groups,
      { epsilon: 1e-6 },
    );
    const recorded = cases['verl/advantages/gdpo'] as number[][];
    // Unbiased over 56 equal-length tokens there, over 8 samples here; each has its own small constant.
    const [tokens, samples] = [56, 8];
    const scale = Math.sqrt((tokens - 1) / tokens / ((samples - 1) / samples));
    advantages.forEach((advantage, i) => {
      expect(advantage! * scale).toBeCloseTo(recorded[i]![0]!, 5);
    });
  });
});

describe('corrections and masks', () => {
  it.each([
    ['token-truncate', { kind: 'truncate', level: 'token', cap: 1.2 }],
    ['sequence-truncate', { kind: 'truncate', level: 'sequence', cap: 1.2 }],
    ['token-mask', { kind: 'mask', level: 'token', low: 0.7, high: 1.3 }],
    ['sequence-mask', { kind: 'mask', level: 'sequence', low: 0.4, high: 1.5 }],
  ] as const)('verl: importance weights, %s', (name, correction) => {
    const config = importanceConfigSchema.parse({ correction }).correction;
    const { weights } = importanceCorrection(flat(batch.old), flat(batch.sampler), lengths, config);
    expectClose(weights, flat(cases[`verl/importance/${name}`] as number[][]));
  });

  it('TRL: tokens of the highest entropy', () => {
    expect([...topEntropyMask(flat(batch.entropies), 0.3)]).toEqual(
      flat(cases['trl/top-entropy-mask'] as number[][]),
    );
  });

  it('TRL: off-policy sequences', () => {
    expect([...keptSequences()]).toEqual(cases['trl/off-policy-mask']);
  });

  it('verl: adaptive KL coefficient', () => {
    const controller = new AdaptiveKlCoefficient({ start: 0.1, target: 0.05, horizon: 100 });
    for (const step of cases['verl/adaptive-kl'] as { kl: number; samples: number; coefficient: number }[]) {
      controller.observe(step.kl, step.samples);
      expect(controller.value).toBeCloseTo(step.coefficient, 8);
    }
  });
});
