import type { Rng } from '../core/index.ts';
import { runPending } from '../engine/index.ts';
import {
  checkpointingOf,
  disposeImageFeatures,
  encodeImageFeatures,
  type ImageFeatures,
  type VisionLanguageModel,
} from '../model/index.ts';
import { type AlgorithmConfig, requireRatioOne, samplerDivergence } from '../rl/index.ts';
import { picturesStay } from './adapt.ts';
import type { AlgorithmControl } from './algorithm-control.ts';
import type { Critic } from './critic/index.ts';
import { type MicroBatch, microBatches, miniBatches, type PolicySample } from './policy-batch.ts';
import { policyScorer } from './policy-scores.ts';
import { type PolicyStep, policyStep, type ScoredMicroBatch } from './policy-step.ts';
import type { Trainee } from './update.ts';

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
  /** Its variables are among the trainee's. */
  critic?: Critic | null;
  samples: readonly PolicySample[];
  learningRate: number;
  config: PolicyUpdateSettings;
  control: AlgorithmControl;
  /** Of the rollout batch, for messages. */
  step: number;
  rng: Rng;
  /** Features of the pictures, where they are known already; they are left to the caller. */
  features?: ImageFeatures | undefined;
}

export interface PolicyUpdates {
  /** Means over the optimizer steps; extremes of the ratio over all of them. */
  metrics: Record<string, number>;
  applied: boolean[];
}

/**
 * One or more optimizer steps on one rollout batch, each on the next mini-batch.
 *
 * A rollout batch that is used once, whole, is on-policy: the old log-probabilities are then the current ones
 * without their gradient, and no pass recomputes what the sampler has returned.
 */
export async function policyUpdates(inputs: PolicyUpdateInputs): Promise<PolicyUpdates> {
  const { model, reference, trainee, samples, config, step, rng } = inputs;
  const isFresh = samples.every(({ isStale }) => !isStale);
  const parts = miniBatches(samples, config.miniBatches, rng.fork('mini-batches')).map((own) =>
    microBatches(own, config.microBatch, model, !config.gradientCheckpointing).map(
      (micro): ScoredMicroBatch => micro,
    ),
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
    const isUsedOnce = config.updatesPerBatch === 1 && isFresh;
    const { old, correction } = config.importance;
    const needsStart = correction.kind !== 'none' || (old === 'trainer' && !isUsedOnce);
    for (const micro of parts.flat()) {
      if (needsStart) micro.start = await scorer.logProbabilities(micro.batch);
      if (referenceScorer !== null) micro.reference = await referenceScorer.logProbabilities(micro.batch);
    }
    const metrics: Record<string, number> = {};
    const tolerance = config.ratioTolerance;
    // Another temperature, other tokens or other weights than the sampler's would train without any sign of it.
    const compareWithSampler = (micros: readonly MicroBatch[], trainer: readonly Float32Array[]): void => {
      const { fresh, stale } = againstSampler(micros, trainer);
      Object.assign(metrics, divergenceMetrics('sampling', fresh), divergenceMetrics('staleness', stale));
      requireRatioOne(extremesOfRatio(fresh), { tolerance, step });
    };
    if (needsStart) {
      const all = parts.flat();
      compareWithSampler(
        all,
        all.map(({ start }) => start!),
      );
    }
    const steps: PolicyStep[] = [];
    for (let u = 0; u < config.updatesPerBatch; u++) {
      const micros = parts[u % parts.length]!;
      const done = await policyStep({
        ...inputs,
        micros,
        scorer,
        isFirst: u === 0,
        isOnPolicy: isUsedOnce && !needsStart && old === 'trainer',
        rng: rng.fork('decisions', u),
      });
      steps.push(done);
      if (u > 0) continue;
      if (!needsStart) compareWithSampler(micros, done.current);
      if (isFresh || old === 'trainer') requireRatioOne(done.ratio, { tolerance, step });
    }
    return {
      metrics: { ...metrics, ...meansOf(steps), ...inputs.control.metrics() },
      applied: steps.map(({ applied }) => applied),
    };
  } finally {
    if (features !== null && features !== given) disposeImageFeatures(features);
    if (referenceFeatures !== null && referenceFeatures !== features) disposeImageFeatures(referenceFeatures);
    await runPending();
  }
}

/** Means over the steps that have a value, and the extremes of the ratio over all of them. */
function meansOf(steps: readonly PolicyStep[]): Record<string, number> {
  const values = new Map<string, number[]>();
  for (const { metrics } of steps) {
    for (const [name, value] of Object.entries(metrics)) {
      values.set(name, [...(values.get(name) ?? []), value]);
    }
  }
  return {
    'ratio/min': Math.min(...steps.map(({ ratio }) => ratio.minimum)),
    'ratio/max': Math.max(...steps.map(({ ratio }) => ratio.maximum)),
    ...Object.fromEntries(
      [...values].map(([name, own]) => [name, own.reduce((sum, value) => sum + value, 0) / own.length]),
    ),
  };
}

/** Log-probabilities of the same tokens where they were sampled, and under the trainer. */
interface TokenPairs {
  sampler: number[];
  trainer: number[];
}

function againstSampler(
  micros: readonly MicroBatch[],
  trainer: readonly Float32Array[],
): { fresh: TokenPairs; stale: TokenPairs } {
  const fresh: TokenPairs = { sampler: [], trainer: [] };
  const stale: TokenPairs = { sampler: [], trainer: [] };
  micros.forEach((micro, i) => {
    let at = 0;
    for (const { logProbabilities, isStale } of micro.samples) {
      const pairs = isStale ? stale : fresh;
      for (let t = 0; t < logProbabilities.length; t++) {
        pairs.sampler.push(logProbabilities[t] as number);
        pairs.trainer.push(trainer[i]![at++]!);
      }
    }
  });
  return { fresh, stale };
}

/** @param of `sampling`: two engines at the same weights; `staleness`: older weights as well */
function divergenceMetrics(
  of: 'sampling' | 'staleness',
  { sampler, trainer }: TokenPairs,
): Record<string, number> {
  const divergence = samplerDivergence(sampler, trainer);
  if (divergence === null) return {};
  return {
    [`${of}/logp_difference/mean`]: divergence.meanAbsoluteDifference,
    [`${of}/logp_difference/max`]: divergence.maximumAbsoluteDifference,
  };
}

function extremesOfRatio({ trainer, sampler }: TokenPairs): { minimum: number; maximum: number } {
  let [minimum, maximum] = [1, 1];
  trainer.forEach((value, i) => {
    const ratio = Math.exp(value - sampler[i]!);
    minimum = Math.min(minimum, ratio);
    maximum = Math.max(maximum, ratio);
  });
  return { minimum, maximum };
}
