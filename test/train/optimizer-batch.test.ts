import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Rng } from '../../src/core/index.ts';
import type { Batch } from '../../src/model/index.ts';
import { type AlgorithmConfig, algorithmSettings } from '../../src/rl/index.ts';
import { decideOptimizerBatch } from '../../src/train/optimizer-batch.ts';
import type { MicroBatch, PolicySample } from '../../src/train/policy-batch.ts';

const schema = z.strictObject(algorithmSettings({ klCoefficient: 0 }));
const sequence = { tokenIds: [], roles: [], images: [] };
const sample = (logProbabilities: number[], advantage: number): PolicySample => ({
  sequence,
  logProbabilities,
  advantages: logProbabilities.map(() => advantage),
  group: 'one',
  isStale: false,
});

/** A micro-batch whose flat vectors are padded to `size` action tokens. */
const micro = (samples: PolicySample[], size: number): MicroBatch => {
  const flat = (valuesOf: (sample: PolicySample) => ArrayLike<number>): Float32Array => {
    const result = new Float32Array(size);
    result.set(samples.flatMap((own) => Array.from(valuesOf(own))));
    return result;
  };
  const count = samples.reduce((sum, own) => sum + own.logProbabilities.length, 0);
  const actions = { rows: new Int32Array(size), count } as unknown as Batch['actions'];
  return {
    samples,
    batch: { actions } as Batch,
    lengths: samples.map(({ logProbabilities }) => logProbabilities.length),
    perToken: flat,
  };
};

/** Three sequences of 2, 1 and 3 tokens, in two micro-batches. */
const [a, b, c] = [sample([-1, -2], 1), sample([-1], -1), sample([-3, -1, -1], -2)];
const micros = [micro([a, b], 4), micro([c], 4)];
const sampled = [
  [-1, -2, -1],
  [-3, -1, -1],
];

const decide = (
  changes: Record<string, unknown>,
  scores: { current?: number[][]; start?: number[][]; entropies?: number[][] } = {},
) => {
  const config: AlgorithmConfig = schema.parse(changes);
  const { current = sampled, start = null, entropies = null } = scores;
  return decideOptimizerBatch(micros, { current, old: sampled, start, entropies }, config, {
    longest: 5,
    rng: new Rng('decisions'),
  });
};
const importanceOf = (...given: Parameters<typeof decide>) =>
  decide(...given).vectors.map(({ importance }) => (importance === null ? null : [...importance]));

describe('an optimizer batch', () => {
  it('has a denominator of all its tokens, sequences, or sequences of a constant length', () => {
    expect(decide({}).denominator).toBe(6);
    expect(decide({ aggregation: { kind: 'sequence-mean' } }).denominator).toBe(3);
    expect(decide({ aggregation: { kind: 'constant' } }).denominator).toBe(15);
    expect(decide({ aggregation: { kind: 'constant', length: 8 } }).denominator).toBe(24);
  });

  it('weighs nothing where nothing is corrected', () => {
    expect(importanceOf({})).toEqual([null, null]);
  });

  it('truncates the ratio of the trainer to the sampler, token by token, with 0 in the padding', () => {
    // log-ratios ln 4, 0, -ln 2 | 0, ln 2, 0; cap 3.
    const start = [
      [-1 + Math.log(4), -2, -1 - Math.log(2)],
      [-3, -1 + Math.log(2), -1],
    ];
    const correction = { kind: 'truncate', cap: 3 };
    const [first, second] = importanceOf({ importance: { correction } }, { start });
    expect(first).toEqual([3, 1, expect.closeTo(0.5, 6), 0]);
    expect(second).toEqual([1, expect.closeTo(2, 6), 1, 0]);
    expect(decide({ importance: { correction } }, { start }).metrics).toMatchObject({
      'importance/ratio_mean': expect.closeTo((4 + 1 + 0.5 + 1 + 2 + 1) / 6, 6),
      'importance/affected_share': expect.closeTo(1 / 6, 6),
    });
  });

  it('leaves out a worse sequence that the policy has left, never a better one', () => {
    // Mean log-ratio to the sampler: a 2 (better), b 0, c (0 + 3 + 0) / 3 = 1.
    const current = [
      [-3, -4, -1],
      [-3, -4, -1],
    ];
    const importance = { offPolicyKl: 0.5 };
    expect(importanceOf({ importance }, { current })).toEqual([
      [1, 1, 1, 0],
      [0, 0, 0, 0],
    ]);
    expect(decide({ importance }, { current }).metrics['importance/masked_sequences']).toBeCloseTo(1 / 3, 12);
  });

  it('keeps the tokens of highest entropy over the whole batch, not over each micro-batch', () => {
    const entropies = [
      [0.9, 0.1, 0.8],
      [0.2, 0.3, 0.4],
    ];
    // The upper third by the quantile at 2/3 of 0.1 0.2 0.3 0.4 0.8 0.9, between 0.4 and 0.8.
    expect(importanceOf({ entropy: { topShare: 1 / 3 } }, { entropies })).toEqual([
      [1, 0, 1, 0],
      [0, 0, 0, 0],
    ]);
  });

  it('multiplies factors', () => {
    const start = [
      [-1 + Math.log(2), -2, -1],
      [-3, -1, -1],
    ];
    const entropies = [
      [0.9, 0.1, 0.8],
      [0.2, 0.3, 0.4],
    ];
    const [first] = importanceOf(
      { importance: { correction: { kind: 'truncate' } }, entropy: { topShare: 1 / 3 } },
      { start, entropies },
    );
    expect(first).toEqual([expect.closeTo(2, 6), 0, 1, 0]);
  });

  it('finds the bounds of BAPO over both micro-batches', () => {
    // Ratio 1 everywhere: positive 2 x 1, negative 1 + 3 x 2 = 7, so the share is 2/9 and both limits are reached.
    const { loss, metrics } = decide({ policyLoss: { kind: 'bapo' } });
    expect(metrics).toMatchObject({ 'bapo/positive': 2, 'bapo/negative': 7, 'bapo/satisfied': 0 });
    expect(loss).toMatchObject({ kind: 'moving-clip', low: 0.9, high: 3 });
  });
});
