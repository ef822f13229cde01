import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Rng } from '../../../src/core/index.ts';
import { startEngine, tf } from '../../../src/engine/index.ts';
import {
  appendTokens,
  collate,
  createModel,
  disposeImageFeatures,
  disposeParameters,
  encodeImageFeatures,
  forward,
  initialValues,
  loadModelFormat,
  neverSampledTokenIds,
  responseLogProbabilities,
  type VisionLanguageModel,
} from '../../../src/model/index.ts';
import { questionSequence } from '../../../src/scoring/index.ts';
import { AlgorithmControl } from '../../../src/train/algorithm-control.ts';
import {
  type Critic,
  createCritic,
  criticRates,
  estimateValues,
  startAtMean,
} from '../../../src/train/critic/index.ts';
import { grpoConfigSchema } from '../../../src/train/index.ts';
import type { PolicySample } from '../../../src/train/policy-batch.ts';
import { policyUpdates } from '../../../src/train/policy-updates.ts';
import { traineeOf } from '../../../src/train/trainee.ts';
import { PRESET } from '../stage-fixture.ts';

/** With an epsilon far above every gradient, Adam's first step is plain gradient descent of rate LR / EPSILON. */
const [EPSILON, LR] = [1e4, 10];
const RATE = LR / EPSILON;
const FACTOR = 3;
const PICTURE = {
  width: 56,
  height: 56,
  data: Uint8Array.from({ length: 3 * 56 * 56 }, (_, i) => (i * i) % 256),
};
/** Of two samples, two and three tokens long. */
const RETURNS = [
  [1, 2],
  [0.5, -1, 3],
];
/** One of them far enough from the present values for the clipped error to be the larger. */
const SHIFT = 0.35;

let model: VisionLanguageModel;
let critic: Critic;
let samples: PolicySample[];

beforeAll(() => startEngine({ threads: 1 }));
beforeEach(async () => {
  const format = await loadModelFormat(PRESET);
  model = createModel(format, initialValues(format.config, new Rng('critic')));
});
afterEach(() => {
  disposeParameters(model.parameters);
  for (const variable of critic.variables.values()) variable.dispose();
});

const configOf = (changes: Record<string, unknown> = {}) =>
  grpoConfigSchema.parse({
    run: 'unused',
    model: 'unused',
    dataset: 'unused',
    advantage: { kind: 'gae' },
    critic: { coefficient: 0.7, clipRange: 0.2, learningRateFactor: FACTOR, ...changes },
    kl: { coefficient: { value: 0 } },
    freeze: { vision: true, merger: true },
    optimizer: { epsilon: EPSILON, weightDecay: 0, clipNorm: 1e9 },
  });

/** Two answers of no advantage, so that the value loss alone has a gradient. */
async function setUp(changes: Record<string, unknown> = {}) {
  const config = configOf(changes);
  critic = createCritic(model.config.text.hiddenSize, config.critic, new Rng('head'));
  const question = questionSequence(model, { text: 'how good?' }, PICTURE);
  const bannedTokenIds = neverSampledTokenIds(model.config, model.tokenizer);
  samples = [];
  for (const [i, returns] of RETURNS.entries()) {
    const sequence = appendTokens(
      question,
      returns.map((_, t) => 100 + 7 * i + t),
      'action',
    );
    const batch = collate([sequence], model.config);
    const taken = tf.tidy(() => responseLogProbabilities(model, batch, { bannedTokenIds }).logProbabilities);
    const logProbabilities = Array.from((await taken.data()).subarray(0, returns.length));
    taken.dispose();
    samples.push({ sequence, logProbabilities, advantages: [0, 0, 0], group: 'one', isStale: false });
  }
  const values = await estimateValues(critic, model, samples, { features: undefined, microBatch: 8 });
  samples = samples.map((sample, i) => ({
    ...sample,
    advantages: RETURNS[i]!.map(() => 0),
    critic: {
      values: Array.from(values[i]!, (value) => value - (i === 0 ? SHIFT : 0)),
      returns: RETURNS[i]!,
    },
  }));
  return { config, values };
}

/** [tokens][hidden] the states that predict the actions, one sequence at a time. */
async function states(): Promise<number[][]> {
  const rows: number[][] = [];
  for (const { sequence } of samples) {
    const batch = collate([sequence], model.config);
    const hidden = tf.tidy(() => forward(model, batch));
    const all = (await hidden.array())[0]!;
    hidden.dispose();
    sequence.roles.forEach((role, t) => {
      if (role === 'action') rows.push(all[t - 1]!);
    });
  }
  return rows;
}

/** The mean over the five tokens of 0.5 max((V - R)^2, (clip(V) - R)^2), written out. */
function lossOf(values: readonly number[], range: number | null): number {
  const returns = RETURNS.flat();
  const old = samples.flatMap((sample) => Array.from(sample.critic!.values));
  return (
    values.reduce((sum, value, t) => {
      const plain = (value - returns[t]!) ** 2;
      if (range === null) return sum + plain / 2;
      const moved = Math.min(old[t]! + range, Math.max(old[t]! - range, value));
      return sum + Math.max(plain, (moved - returns[t]!) ** 2) / 2;
    }, 0) / values.length
  );
}

const headValues = (rows: readonly number[][], weight: readonly number[], bias: number): number[] =>
  rows.map((row) => row.reduce((sum, x, k) => sum + x * weight[k]!, 0) / Math.sqrt(row.length) + bias);

async function step({ config }: { config: ReturnType<typeof configOf> }, microBatch = 8) {
  const trained = new Map([...model.parameters].filter(([name]) => !name.startsWith('visual.')));
  const trainee = traineeOf(
    new Map([...trained, ...critic.variables]),
    config.optimizer,
    criticRates(critic),
  );
  const result = await policyUpdates({
    model,
    reference: null,
    trainee,
    critic,
    samples,
    learningRate: LR,
    config: { ...config, microBatch },
    control: new AlgorithmControl(config),
    step: 0,
    rng: new Rng('critic step'),
  });
  trainee.optimizer.dispose();
  return result;
}

const numbersOf = async (name: string): Promise<number[]> =>
  Array.from(await critic.variables.get(name)!.data());

describe('the step on a rollout batch', () => {
  it.each([
    ['clipped', 0.2],
    ['plain', null],
  ])('moves the head down the %s value loss, by its own rate', async (_name, clipRange) => {
    const ready = await setUp({ clipRange });
    const rows = await states();
    const weight = await numbersOf('critic.weight');
    const [bias] = await numbersOf('critic.bias');
    const values = headValues(rows, weight, bias!);
    values.forEach((value, t) => {
      expect(value).toBeCloseTo(ready.values.flatMap((own) => Array.from(own))[t]!, 5);
    });
    const { metrics } = await step(ready);
    expect(metrics.value_loss).toBeCloseTo(lossOf(values, clipRange), 5);
    expect(metrics.loss).toBeCloseTo(0.7 * lossOf(values, clipRange), 5);

    const slope = (change: (delta: number) => number[]): number =>
      (lossOf(change(1e-5), clipRange) - lossOf(change(-1e-5), clipRange)) / 2e-5;
    const moved = (before: number, after: number): number => (before - after) / (RATE * 0.7 * FACTOR);
    const [biasAfter] = await numbersOf('critic.bias');
    const biasSlope = slope((delta) => headValues(rows, weight, bias! + delta));
    expect(moved(bias!, biasAfter!) / biasSlope).toBeCloseTo(1, 2);
    const after = await numbersOf('critic.weight');
    for (const k of [0, 17, 127]) {
      const slopeOfWeight = slope((delta) =>
        headValues(
          rows,
          weight.map((value, at) => (at === k ? value + delta : value)),
          bias!,
        ),
      );
      expect(Math.abs(slopeOfWeight)).toBeGreaterThan(1e-4);
      expect(moved(weight[k]!, after[k]!)).toBeCloseTo(slopeOfWeight, 3);
    }
  });

  const GAIN = 'model.norm.weight';
  const gainOf = async (): Promise<number[]> => Array.from(await model.parameters.get(GAIN)!.data());

  it('leaves a detached policy as it is', async () => {
    const ready = await setUp();
    const before = await gainOf();
    await step(ready);
    expect(await gainOf()).toEqual(before);
  });

  it('moves the trunk down the value loss where it is not detached', async () => {
    const ready = await setUp({ detach: false });
    const weight = await numbersOf('critic.weight');
    const [bias] = await numbersOf('critic.bias');
    const before = await gainOf();
    const k = 5;
    const gain = model.parameters.get(GAIN)!;
    const lossWith = async (delta: number): Promise<number> => {
      gain.assign(tf.tensor1d(before.map((value, at) => (at === k ? value + delta : value))));
      return lossOf(headValues(await states(), weight, bias!), 0.2);
    };
    const slope = (await lossWith(0.5)) - (await lossWith(-0.5));
    gain.assign(tf.tensor1d(before));
    await step(ready);
    const moved = (before[k]! - (await gainOf())[k]!) / (RATE * 0.7);
    expect(Math.abs(slope)).toBeGreaterThan(1e-4);
    expect(moved / slope).toBeCloseTo(1, 1);
  });

  it('is the same for any micro-batch', async () => {
    const ready = await setUp();
    const [weight, bias] = [await numbersOf('critic.weight'), await numbersOf('critic.bias')];
    const whole = await step(ready);
    const expected = await numbersOf('critic.weight');
    critic.variables.get('critic.weight')!.assign(tf.tensor2d([weight]));
    critic.variables.get('critic.bias')!.assign(tf.tensor1d(bias));
    const cut = await step(ready, 1);
    expect(cut.metrics.value_loss).toBeCloseTo(whole.metrics.value_loss!, 6);
    (await numbersOf('critic.weight')).forEach((value, k) => {
      expect(value).toBeCloseTo(expected[k]!, 6);
    });
  });
});

it('the value before a token is that of its position, whatever stands beside it in the batch', async () => {
  await setUp();
  const together = await estimateValues(critic, model, samples, { features: undefined, microBatch: 8 });
  const alone = await estimateValues(critic, model, samples, { features: undefined, microBatch: 1 });
  expect(together.map((values) => values.length)).toEqual([2, 3]);
  const features = encodeImageFeatures(model, new Set(samples.flatMap(({ sequence }) => sequence.images)));
  const known = await estimateValues(critic, model, samples, { features, microBatch: 8 });
  disposeImageFeatures(features);
  together.forEach((values, i) => {
    values.forEach((value, t) => {
      expect(alone[i]![t]!).toBeCloseTo(value, 6);
      expect(known[i]![t]!).toBeCloseTo(value, 6);
    });
  });
});

it('starts at the mean of the rewards that are there', async () => {
  await setUp();
  critic.variables.get('critic.weight')!.assign(tf.zeros([1, model.config.text.hiddenSize]));
  const before = await numbersOf('critic.bias');
  startAtMean(critic, [{ status: 'missing', reason: 'gone' }]);
  expect(await numbersOf('critic.bias')).toEqual(before);
  startAtMean(critic, [
    { status: 'ok', value: 1 },
    { status: 'missing', reason: 'gone' },
    { status: 'ok', value: 2 },
  ]);
  const values = await estimateValues(critic, model, samples, { features: undefined, microBatch: 8 });
  expect(values.map((own) => Array.from(own))).toEqual([
    [1.5, 1.5],
    [1.5, 1.5, 1.5],
  ]);
});
