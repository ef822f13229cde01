import type { Rng } from '../core/index.ts';
import { runPending, tf } from '../engine/index.ts';
import {
  checkpointingOf,
  disposeImageFeatures,
  encodeImageFeatures,
  type ImageFeatures,
  type VisionLanguageModel,
} from '../model/index.ts';
import { type AlgorithmConfig, policyLoss, requireRatioOne, samplerDivergence } from '../rl/index.ts';
import { picturesStay } from './adapt.ts';
import type { AlgorithmControl } from './algorithm-control.ts';
import { decideOptimizerBatch, needsCurrent, needsEntropies } from './optimizer-batch.ts';
import { type MicroBatch, microBatches, miniBatches, type PolicySample } from './policy-batch.ts';
import { policyScorer } from './policy-scores.ts';
import { type MicroLoss, type Trainee, update } from './update.ts';

export interface PolicyUpdateSettings extends AlgorithmConfig {
  /** Optimizer steps on each rollout batch. */
  updatesPerBatch: number;
  /** Parts of a rollout batch, each an optimizer batch of its own. */
  miniBatches: number;
  microBatch: number;
  temperature: number;
  maxNewTokens: number;
  ratioTolerance: number;
  gradientCheckpointing: boolean;
}

export interface PolicyUpdateInputs {
  model: VisionLanguageModel;
  reference: VisionLanguageModel | null;
  trainee: Trainee;
  samples: readonly PolicySample[];
  learningRate: number;
  config: PolicyUpdateSettings;
  control: AlgorithmControl;
  /** Of the rollout batch, for messages. */
  step: number;
  rng: Rng;
  /** Features of the pictures, where they are known already; they are left to the caller. */
  features?: ImageFeatures | undefined;
  /** The samples come from older weights, so that no ratio is expected to be 1. */
  stale?: boolean;
}

export interface PolicyUpdates {
  /** Means over the optimizer steps; extremes of the ratio over all of them. */
  metrics: Record<string, number>;
  applied: boolean[];
}

/**
 * One or more optimizer steps on one rollout batch. Each step takes the next mini-batch; its decisions are made
 * over all of its tokens before it is cut into micro-batches, over an explicit global denominator.
 *
 * A rollout batch that is used once, whole, is on-policy: the old log-probabilities are then the current ones
 * without their gradient, and no pass recomputes what the sampler has returned.
 */
export async function policyUpdates(inputs: PolicyUpdateInputs): Promise<PolicyUpdates> {
  const { model, reference, trainee, samples, config, control, step, rng, stale = false } = inputs;
  const parts = miniBatches(samples, config.miniBatches, rng.fork('mini-batches')).map((own) =>
    microBatches(own, config.microBatch, model).map((micro): ScoredMicroBatch => ({ ...micro })),
  );
  const images = new Set(samples.flatMap(({ sequence }) => sequence.images));
  const frozen = picturesStay(trainee.parameters);
  const checkpointing = config.gradientCheckpointing ? checkpointingOf(trainee.parameters) : undefined;
  const given = inputs.features;
  const features = given ?? (frozen ? encodeImageFeatures(model, images) : null);
  const referenceFeatures =
    reference === null ? null : frozen ? features : encodeImageFeatures(reference, images);
  try {
    const settings = { temperature: config.temperature, checkpointing };
    const scorer = policyScorer(model, features, settings);
    const referenceScorer = reference === null ? null : policyScorer(reference, referenceFeatures, settings);
    const onPolicy = config.updatesPerBatch === 1 && !stale;
    const { importance } = config;
    const recomputed = importance.correction.kind !== 'none' || (importance.old === 'trainer' && !onPolicy);
    for (const micro of parts.flat()) {
      if (recomputed) micro.start = await scorer.logProbabilities(micro.batch);
      if (referenceScorer !== null) micro.reference = await referenceScorer.logProbabilities(micro.batch);
    }
    const metrics: Record<string, number> = {};
    const compare = (start: (micro: ScoredMicroBatch) => Float32Array | undefined): void => {
      const own = parts.flat().filter((micro) => start(micro) !== undefined);
      const trained = own.flatMap((micro) => [...withoutPadding(micro, start(micro)!)]);
      const sampled = own.flatMap((micro) => micro.samples.flatMap((s) => Array.from(s.logProbabilities)));
      Object.assign(metrics, divergenceMetrics(sampled, trained));
      // Another temperature, other tokens or other weights than the sampler's would train without any sign of it.
      if (!stale) {
        requireRatioOne(extremesOfRatio(trained, sampled), { tolerance: config.ratioTolerance, step });
      }
    };
    if (recomputed) compare(({ start }) => start);

    const sums = new Map<string, number>();
    const applied: boolean[] = [];
    for (let u = 0; u < config.updatesPerBatch; u++) {
      const micros = parts[u % parts.length]!;
      const entropies = needsEntropies(config) ? ([] as Float32Array[]) : null;
      for (const micro of micros) {
        if (entropies !== null) {
          const scores = await scorer.withEntropy(micro.batch);
          micro.current = scores.logProbabilities;
          entropies.push(withoutPadding(micro, scores.entropies));
        } else if (u > 0 && needsCurrent(config)) {
          micro.current = await scorer.logProbabilities(micro.batch);
        }
      }
      const sampled = (micro: ScoredMicroBatch) => micro.perToken((sample) => sample.logProbabilities);
      const oldOf = (micro: ScoredMicroBatch): Float32Array =>
        (importance.old === 'trainer' ? micro.start : undefined) ?? sampled(micro);
      const decided = decideOptimizerBatch(
        micros,
        {
          current: micros.map((micro) =>
            withoutPadding(micro, micro.current ?? micro.start ?? sampled(micro)),
          ),
          old: micros.map((micro) => withoutPadding(micro, oldOf(micro))),
          start: recomputed ? micros.map((micro) => withoutPadding(micro, micro.start!)) : null,
          entropies,
        },
        config,
        { longest: config.maxNewTokens, rng: rng.fork('decisions', u) },
      );
      const kept: { min: tf.Tensor; max: tf.Tensor; current: tf.Tensor }[] = [];
      const result = await update(
        trainee,
        inputs.learningRate,
        micros.map((micro, i) => (): MicroLoss => {
          const { logProbabilities, entropy } = scorer.trace(micro.batch);
          const { advantages, weights, importance: factors, selected } = decided.vectors[i]!;
          // On-policy the loss takes the current ones, which are the same to the bit.
          const isOld = onPolicy && importance.old === 'trainer' && micro.start === undefined;
          const { loss, metrics: measured } = policyLoss(
            {
              logProbabilities,
              oldLogProbabilities: isOld ? null : tf.tensor1d(oldOf(micro)),
              referenceLogProbabilities: micro.reference === undefined ? null : tf.tensor1d(micro.reference),
              entropies: entropy(),
              advantages: tf.tensor1d(advantages),
              importanceWeights: factors === null ? null : tf.tensor1d(factors),
              tokensPerSequence: micro.lengths,
              selected: selected === null ? null : tf.tensor1d(selected),
              weights: tf.tensor1d(weights),
              denominator: decided.denominator,
              totalTokens: decided.totalTokens,
            },
            {
              surrogate: decided.loss,
              klEstimator: config.kl.estimator,
              klGradient: config.kl.gradient,
              klCoefficient: config.kl.place === 'loss' ? control.klInLoss : 0,
              entropyCoefficient: control.entropyInLoss,
            },
          );
          const { ratioMax, ratioMin, ...shares } = measured;
          kept.push({
            min: tf.keep(ratioMin.clone()),
            max: tf.keep(ratioMax.clone()),
            current: tf.keep(logProbabilities.clone()),
          });
          return { loss, metrics: shares as unknown as Record<string, tf.Scalar> };
        }),
      );
      applied.push(result.applied);
      const ratio = { minimum: Number.POSITIVE_INFINITY, maximum: Number.NEGATIVE_INFINITY };
      const first: Float32Array[] = [];
      for (const { min, max, current } of kept) {
        ratio.minimum = Math.min(ratio.minimum, (await min.data())[0]!);
        ratio.maximum = Math.max(ratio.maximum, (await max.data())[0]!);
        if (u === 0 && !recomputed) first.push(Float32Array.from(await current.data()));
        tf.dispose([min, max, current]);
      }
      if (u === 0 && !recomputed) compare((micro) => first[micros.indexOf(micro)]);
      if (u === 0 && !stale) requireRatioOne(ratio, { tolerance: config.ratioTolerance, step });
      metrics['ratio/min'] = Math.min(metrics['ratio/min'] ?? Number.POSITIVE_INFINITY, ratio.minimum);
      metrics['ratio/max'] = Math.max(metrics['ratio/max'] ?? Number.NEGATIVE_INFINITY, ratio.maximum);
      control.observe(
        result.metrics,
        micros.reduce((count, micro) => count + micro.samples.length, 0),
      );
      const all = {
        ...named(result.metrics),
        ...decided.metrics,
        loss: result.loss,
        gradientNorm: result.gradientNorm,
      };
      for (const [name, value] of Object.entries(all)) sums.set(name, (sums.get(name) ?? 0) + value);
    }
    for (const [name, sum] of sums) metrics[name] = sum / applied.length;
    return { metrics: { ...metrics, ...control.metrics() }, applied };
  } finally {
    if (features !== null && features !== given) disposeImageFeatures(features);
    if (referenceFeatures !== null && referenceFeatures !== features) disposeImageFeatures(referenceFeatures);
    await runPending();
  }
}

/** Log-probabilities of a micro-batch, each under one set of weights, as far as they were needed. Padded. */
interface ScoredMicroBatch extends MicroBatch {
  start?: Float32Array;
  reference?: Float32Array;
  current?: Float32Array;
}

const withoutPadding = ({ batch }: MicroBatch, values: Float32Array): Float32Array =>
  values.subarray(0, batch.actions.count);

/** The names that users of TRL and verl look for. */
function named({ clipRatioLow, clipRatioHigh, ratioMean, ...rest }: Record<string, number>) {
  return {
    ...rest,
    'clip_ratio/low': clipRatioLow!,
    'clip_ratio/high': clipRatioHigh!,
    'ratio/mean': ratioMean!,
  };
}

function divergenceMetrics(sampled: readonly number[], trained: readonly number[]): Record<string, number> {
  const divergence = samplerDivergence(sampled, trained);
  if (divergence === null) return {};
  return {
    'sampling/logp_difference/mean': divergence.meanAbsoluteDifference,
    'sampling/logp_difference/max': divergence.maximumAbsoluteDifference,
  };
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
