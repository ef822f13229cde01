import type { Completion } from '../core/index.ts';
import { runPending, tf } from '../engine/index.ts';
import {
  appendTokens,
  type Batch,
  batchFeatures,
  checkpointingOf,
  collate,
  disposeImageFeatures,
  encodeImageFeatures,
  type ImageFeatures,
  neverSampledTokenIds,
  responseLogProbabilities,
  type Sequence,
  type VisionLanguageModel,
} from '../model/index.ts';
import {
  batchTotals,
  globalDenominator,
  policyLoss,
  requireRatioOne,
  samplerDivergence,
  tokenWeights,
} from '../rl/index.ts';
import { picturesStay } from './adapt.ts';
import { chunk } from './chunk.ts';
import type { GrpoConfig } from './grpo.config.ts';
import { type MicroLoss, type Trainee, update } from './update.ts';

/** What the policy learns from: a completion as it was sampled, and how much better it was than its group. */
export interface JudgedSample {
  prompt: Sequence;
  completion: Completion;
  advantage: number;
}

export interface PolicyUpdates {
  metrics: Record<string, number>;
  applied: boolean[];
}

/**
 * One or more optimiser steps on one rollout batch, micro-batched over an explicit global denominator.
 *
 * @param given features of the pictures, where they are known already; they are left to the caller
 */
export async function policyUpdates(
  model: VisionLanguageModel,
  reference: VisionLanguageModel | null,
  trainee: Trainee,
  samples: readonly JudgedSample[],
  learningRate: number,
  config: GrpoConfig,
  step: number,
  given?: ImageFeatures,
): Promise<PolicyUpdates> {
  const banned = neverSampledTokenIds(model.config, model.tokenizer);
  const sequences = samples.map(({ prompt, completion }) =>
    appendTokens(prompt, completion.tokenIds, 'action'),
  );
  const lengths = samples.map(({ completion }) => completion.tokenIds.length);
  const totals = batchTotals(lengths);
  const denominator = globalDenominator(config.loss.aggregation, totals, config.maxNewTokens);
  const images = new Set(sequences.flatMap(({ images: own }) => own));
  const frozen = picturesStay(trainee.parameters);
  const checkpointing = config.gradientCheckpointing ? checkpointingOf(trainee.parameters) : undefined;
  const features = given ?? (frozen ? encodeImageFeatures(model, images) : null);
  const referenceFeatures =
    reference === null ? null : frozen ? features : encodeImageFeatures(reference, images);
  const parts = chunk(
    samples.map((_, index) => index),
    config.microBatch,
  ).map((indices) => {
    const batch = collate(
      indices.map((index) => sequences[index]!),
      model.config,
    );
    const size = batch.actions.rows.length;
    const perToken = (value: (sample: number, token: number) => number): Float32Array => {
      const result = new Float32Array(size);
      let at = 0;
      for (const index of indices) for (let t = 0; t < lengths[index]!; t++) result[at++] = value(index, t);
      return result;
    };
    return {
      batch,
      sampler: perToken((index, t) => samples[index]!.completion.logProbabilities[t]!),
      advantages: perToken((index) => samples[index]!.advantage),
      weights: tokenWeights(
        config.loss.aggregation,
        indices.map((index) => lengths[index]!),
        size,
      ),
    };
  });
  try {
    const settings = { temperature: config.temperature, bannedTokenIds: banned };
    const score = async (
      network: VisionLanguageModel,
      batch: Batch,
      own: typeof features,
    ): Promise<Float32Array> => {
      const tensor = tf.tidy(() => {
        const imageEmbeddings = own === null ? undefined : batchFeatures(batch.images, own);
        return responseLogProbabilities(network, batch, { ...settings, imageEmbeddings, checkpointing })
          .logProbabilities;
      });
      const result = (await tensor.data()) as Float32Array;
      tensor.dispose();
      return Float32Array.from(result);
    };
    const old: Float32Array[] = [];
    const fixed: (Float32Array | null)[] = [];
    for (const { batch } of parts) {
      old.push(await score(model, batch, features));
      fixed.push(reference === null ? null : await score(reference, batch, referenceFeatures));
    }
    const metrics: Record<string, number> = {};
    const flat = (arrays: readonly Float32Array[]): number[] =>
      arrays.flatMap((array, i) => [...array.subarray(0, parts[i]!.batch.actions.count)]);
    const sampled = flat(parts.map(({ sampler }) => sampler));
    const trained = flat(old);
    const divergence = samplerDivergence(sampled, trained);
    if (divergence !== null) {
      metrics['sampler/meanAbsoluteDifference'] = divergence.meanAbsoluteDifference;
      metrics['sampler/maximumAbsoluteDifference'] = divergence.maximumAbsoluteDifference;
    }
    // Another temperature, other tokens or other weights than the sampler's would train without any sign of it.
    requireRatioOne(extremesOfRatio(trained, sampled), { tolerance: config.ratioTolerance, step });
    const applied: boolean[] = [];
    for (let u = 0; u < config.updatesPerBatch; u++) {
      const extremes: { min: tf.Tensor; max: tf.Tensor }[] = [];
      const micros = parts.map(({ batch, advantages, weights }, i) => (): MicroLoss => {
        const imageEmbeddings = features === null ? undefined : batchFeatures(batch.images, features);
        const { logProbabilities, entropy } = responseLogProbabilities(model, batch, {
          ...settings,
          imageEmbeddings,
          checkpointing,
        });
        const referenceValues = fixed[i] ?? null;
        const { loss, metrics: measured } = policyLoss(
          {
            logProbabilities,
            oldLogProbabilities: tf.tensor1d(old[i]!),
            referenceLogProbabilities: referenceValues === null ? null : tf.tensor1d(referenceValues),
            entropies: entropy(),
            advantages: tf.tensor1d(advantages),
            weights: tf.tensor1d(weights),
            denominator,
            totalTokens: totals.tokens,
          },
          {
            epsilonLow: config.loss.clipLow,
            epsilonHigh: config.loss.clipHigh,
            klCoefficient: config.loss.klCoefficient,
            entropyCoefficient: config.loss.entropyCoefficient,
          },
        );
        const { ratioMax, ratioMin, ...sums } = measured;
        extremes.push({ min: tf.keep(ratioMin.clone()), max: tf.keep(ratioMax.clone()) });
        return { loss, metrics: sums as unknown as Record<string, tf.Scalar> };
      });
      const result = await update(trainee, learningRate, micros);
      applied.push(result.applied);
      let minimum = Number.POSITIVE_INFINITY;
      let maximum = Number.NEGATIVE_INFINITY;
      for (const { min, max } of extremes) {
        minimum = Math.min(minimum, (await min.data())[0]!);
        maximum = Math.max(maximum, (await max.data())[0]!);
        tf.dispose([min, max]);
      }
      if (u === 0) requireRatioOne({ minimum, maximum }, { tolerance: config.ratioTolerance, step });
      Object.assign(metrics, result.metrics, {
        loss: result.loss,
        gradientNorm: result.gradientNorm,
        ratioMin: minimum,
        ratioMax: maximum,
      });
    }
    return { metrics, applied };
  } finally {
    if (features !== null && features !== given) disposeImageFeatures(features);
    if (referenceFeatures !== null && referenceFeatures !== features) disposeImageFeatures(referenceFeatures);
    await runPending();
  }
}

function extremesOfRatio(
  numerators: readonly number[],
  denominators: readonly number[],
): { minimum: number; maximum: number } {
  let minimum = Number.POSITIVE_INFINITY;
  let maximum = Number.NEGATIVE_INFINITY;
  numerators.forEach((value, i) => {
    const ratio = Math.exp(value - denominators[i]!);
    minimum = Math.min(minimum, ratio);
    maximum = Math.max(maximum, ratio);
  });
  return { minimum, maximum };
}
