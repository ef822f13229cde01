import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Completion, Rng } from '../../src/core/index.ts';
import { decodeImage, loadShippedPrompt, renderPrompt } from '../../src/data/index.ts';
import { tf } from '../../src/engine/index.ts';
import {
  appendTokens,
  collate,
  disposeParameters,
  generate,
  loadModel,
  neverSampledTokenIds,
  responseLogProbabilities,
  type Sequence,
  type VisionLanguageModel,
} from '../../src/model/index.ts';
import { questionSequence } from '../../src/scoring/index.ts';
import { AlgorithmControl } from '../../src/train/algorithm-control.ts';
import { type GrpoConfig, grpoConfigSchema } from '../../src/train/index.ts';
import type { PolicySample } from '../../src/train/policy-batch.ts';
import { policyUpdates } from '../../src/train/policy-updates.ts';
import { traineeOf } from '../../src/train/trainee.ts';
import { createStageFixture, records, type StageFixture, teachContract } from './stage-fixture.ts';

const MAX_TOKENS = 24;

let fixture: StageFixture;
let taught: string;
let model: VisionLanguageModel;
let prompt: Sequence;

beforeAll(async () => {
  fixture = await createStageFixture();
  taught = await teachContract(fixture);
});
beforeEach(async () => {
  model = await loadModel(taught);
  const [record] = await records(fixture.data);
  const text = renderPrompt(await loadShippedPrompt('student/quality.v1'));
  prompt = questionSequence(model, text, await decodeImage(join(fixture.data, record!.image)));
  return () => disposeParameters(model.parameters);
});
afterAll(() => fixture.remove());

const configOf = (changes: Record<string, unknown>): GrpoConfig =>
  grpoConfigSchema.parse({
    run: 'unused',
    model: 'unused',
    dataset: 'unused',
    maxNewTokens: MAX_TOKENS,
    freeze: { vision: false, merger: false },
    kl: { coefficient: { value: 0 } },
    ...changes,
  });

async function sample(temperature: number): Promise<Completion[]> {
  const [completions] = await generate(model, [prompt], {
    samplesPerPrompt: 2,
    maxNewTokens: MAX_TOKENS,
    temperature,
    rng: new Rng('policy updates'),
  });
  expect(completions![0]!.text).not.toBe(completions![1]!.text);
  return completions!;
}

/** log p of each token of each completion under the present weights, by a plain forward pass one at a time. */
async function logProbabilities(
  completions: readonly Completion[],
  temperature: number,
): Promise<number[][]> {
  const bannedTokenIds = neverSampledTokenIds(model.config, model.tokenizer);
  const rows: number[][] = [];
  for (const { tokenIds } of completions) {
    const batch = collate([appendTokens(prompt, tokenIds, 'action')], model.config);
    const scores = tf.tidy(
      () => responseLogProbabilities(model, batch, { temperature, bannedTokenIds }).logProbabilities,
    );
    rows.push(Array.from((await scores.data()).subarray(0, tokenIds.length)));
    scores.dispose();
  }
  return rows;
}

const judged = (completions: readonly Completion[], advantages: readonly number[]): PolicySample[] =>
  completions.map(({ tokenIds, logProbabilities }, i) => ({
    sequence: appendTokens(prompt, tokenIds, 'action'),
    logProbabilities,
    advantages: tokenIds.map(() => advantages[i]!),
    group: 'one',
    isStale: false,
  }));

const update = (samples: readonly PolicySample[], config: GrpoConfig, learningRate: number) =>
  policyUpdates({
    model,
    reference: null,
    trainee: traineeOf(model.parameters, config.optimizer),
    samples,
    learningRate,
    config,
    control: new AlgorithmControl(config),
    step: 17,
    rng: new Rng('policy updates'),
  });

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

describe('one update', () => {
  it('starts at the loss that ratio 1 gives: -(n1 - n2) / (n1 + n2) for advantages 1 and -1', async () => {
    const completions = await sample(1);
    const [n1, n2] = completions.map(({ tokenIds }) => tokenIds.length);
    const { metrics, applied } = await update(judged(completions, [1, -1]), configOf({}), 1e-4);
    expect(applied).toEqual([true]);
    expect(metrics.loss).toBeCloseTo(-(n1! - n2!) / (n1! + n2!), 4);
    expect(metrics['ratio/min']).toBeCloseTo(1, 4);
    expect(metrics['ratio/max']).toBeCloseTo(1, 4);
    expect(metrics['sampling/logp_difference/max']).toBeLessThan(1e-4);
  });

  it('raises the log-probability of a rewarded completion by rate x |gradient|^2', async () => {
    // With an epsilon far above every gradient, Adam's first step is plain gradient descent of rate lr / epsilon.
    const [epsilon, learningRate] = [1e4, 10];
    const optimizer = { epsilon, weightDecay: 0, clipNorm: 1e9 };
    const completions = (await sample(1)).slice(0, 1);
    const [before] = await logProbabilities(completions, 1);
    const { metrics } = await update(judged(completions, [1]), configOf({ optimizer }), learningRate);
    const [after] = await logProbabilities(completions, 1);
    // The loss is minus the mean log-probability, up to a constant of equal gradient at ratio 1.
    const gain = (sum(after!) - sum(before!)) / before!.length;
    const predicted = (learningRate / epsilon) * metrics.gradientNorm! ** 2;
    expect(gain).toBeGreaterThan(0);
    expect(gain / predicted).toBeGreaterThan(0.9);
    expect(gain / predicted).toBeLessThan(1.1);
  });

  it('lowers that of the worse completion and raises that of the better', async () => {
    const completions = await sample(1);
    const before = await logProbabilities(completions, 1);
    await update(judged(completions, [-1, 1]), configOf({}), 1e-4);
    const after = await logProbabilities(completions, 1);
    expect(sum(after[0]!)).toBeLessThan(sum(before[0]!));
    expect(sum(after[1]!)).toBeGreaterThan(sum(before[1]!));
  });

  it('refuses completions that were sampled at another temperature', async () => {
    const completions = await sample(0.5);
    await expect(
      update(judged(completions, [1, -1]), configOf({ temperature: 1 }), 1e-4),
    ).rejects.toMatchObject({
      code: 'TRAINING',
      message: expect.stringMatching(/^ratio of current to old probability is .* of step 17, allowed is 1/),
    });
  });

  it('takes the same completions at the temperature they were sampled at', async () => {
    const completions = await sample(0.5);
    const rows = await logProbabilities(completions, 0.5);
    const differences = rows.flatMap((row, i) =>
      row.map((value, t) => Math.abs(value - completions[i]!.logProbabilities[t]!)),
    );
    const { metrics } = await update(judged(completions, [1, -1]), configOf({ temperature: 0.5 }), 1e-4);
    expect(metrics['sampling/logp_difference/mean']).toBeCloseTo(sum(differences) / differences.length, 5);
    expect(metrics['sampling/logp_difference/max']).toBeLessThan(1e-4);
  });
});

describe('tokens', () => {
  it('are trained as they were sampled, where encoding their text would give others', async () => {
    // "t", "h", "e" one by one: the tokenizer has a token for the word, so no encoding gives these three.
    const tokenIds = ['t', 'h', 'e', '<|im_end|>'].map((token) => model.tokenizer.tokenId(token)!);
    expect(model.tokenizer.decode(tokenIds.slice(0, 3))).toBe('the');
    expect(model.tokenizer.encode('the')).toHaveLength(1);
    const completion = { tokenIds, logProbabilities: [], text: 'the', finishReason: 'stop' as const };
    const [before] = await logProbabilities([completion], 1);
    const samples = judged([{ ...completion, logProbabilities: before! }], [1]);
    const { metrics } = await update(samples, configOf({}), 1e-4);
    // The sampler's four log-probabilities are those of these four tokens; the ratio guard would refuse any others.
    expect(metrics['sampling/logp_difference/max']).toBeLessThan(1e-4);
    const [after] = await logProbabilities([completion], 1);
    expect(sum(after!)).toBeGreaterThan(sum(before!));
  });
});

describe('a step that is not finite', () => {
  it('changes nothing, and says so', async () => {
    const completions = await sample(1);
    const weights = async () =>
      Promise.all([...model.parameters.values()].map(async (variable) => Array.from(await variable.data())));
    const before = await weights();
    const { applied } = await update(judged(completions, [Number.NaN, 1]), configOf({}), 1e-3);
    expect(applied).toEqual([false]);
    expect(await weights()).toEqual(before);
  });
});

describe('two updates of one batch', () => {
  it('measure ratio and clipping of the second against the weights before the first', async () => {
    const learningRate = 5e-3;
    const completions = await sample(1);
    const samples = judged(completions, [1, -1]);
    const before = await logProbabilities(completions, 1);
    await update(samples, configOf({}), learningRate);
    const ratios = (await logProbabilities(completions, 1)).map((row, i) =>
      row.map((value, t) => Math.exp(value - before[i]![t]!)),
    );
    const tokens = ratios.flat();

    disposeParameters(model.parameters);
    model = await loadModel(taught);
    const { metrics, applied } = await update(samples, configOf({ updatesPerBatch: 2 }), learningRate);
    expect(applied).toEqual([true, true]);
    expect(metrics['ratio/max']! / Math.max(...tokens)).toBeCloseTo(1, 3);
    expect(metrics['ratio/min']! / Math.min(...tokens)).toBeCloseTo(1, 3);
    // Clipped are gains above 1.2 where the advantage is 1, and below 0.8 where it is -1.
    const high = ratios[0]!.filter((ratio) => ratio > 1.2).length / tokens.length;
    const low = ratios[1]!.filter((ratio) => ratio < 0.8).length / tokens.length;
    expect(high).toBeGreaterThan(0);
    expect(low).toBeGreaterThan(0);
    // The first update clips nothing; metrics are means over both.
    expect(metrics['clip_ratio/high']).toBeCloseTo(high / 2, 6);
    expect(metrics['clip_ratio/low']).toBeCloseTo(low / 2, 6);
    const clipped =
      sum(ratios[0]!.map((ratio) => -Math.min(ratio, Math.min(Math.max(ratio, 0.8), 1.2)))) +
      sum(ratios[1]!.map((ratio) => Math.max(ratio, Math.min(Math.max(ratio, 0.8), 1.2))));
    const first = (ratios[1]!.length - ratios[0]!.length) / tokens.length;
    expect(metrics.loss! / ((first + clipped / tokens.length) / 2)).toBeCloseTo(1, 3);
  });
});
