import type { Rng } from '../core/index.ts';
import { tf } from '../engine/index.ts';
import { type AlgorithmConfig, policyLoss } from '../rl/index.ts';
import type { AlgorithmControl } from './algorithm-control.ts';
import { type Critic, criticLoss } from './critic/index.ts';
import {
  decideOptimizerBatch,
  needsCurrent,
  needsEntropies,
  type OptimizerBatch,
} from './optimizer-batch.ts';
import type { MicroBatch } from './policy-batch.ts';
import type { PolicyScorer } from './policy-scores.ts';
import { type MicroLoss, type Trainee, update } from './update.ts';

/** A micro-batch with its log-probabilities [T] under other weights, padded, as far as they were needed. */
export interface ScoredMicroBatch extends MicroBatch {
  /** Under the trainer's weights at the start of the rollout batch. */
  start?: Float32Array;
  reference?: Float32Array;
}

export interface PolicyStepInputs {
  micros: readonly ScoredMicroBatch[];
  scorer: PolicyScorer;
  trainee: Trainee;
  critic?: Critic | null;
  learningRate: number;
  config: AlgorithmConfig & { maxNewTokens: number };
  control: AlgorithmControl;
  /** Whether the weights are those of the start of the rollout batch. */
  isFirst: boolean;
  /** Whether the ratio is 1 by definition: these very weights have sampled, and nothing recomputed it. */
  isOnPolicy: boolean;
  rng: Rng;
}

export interface PolicyStep {
  applied: boolean;
  metrics: Record<string, number>;
  ratio: { minimum: number; maximum: number };
  /** Log-probabilities [T] of each micro-batch before the step, padded. */
  current: Float32Array[];
}

/** One optimizer step on one mini-batch. */
export async function policyStep(inputs: PolicyStepInputs): Promise<PolicyStep> {
  const { micros, scorer, trainee, critic = null, learningRate, config, control, isOnPolicy } = inputs;
  const decided = await decide(inputs);
  const kept: { min: tf.Tensor; max: tf.Tensor; current: tf.Tensor }[] = [];
  const result = await update(
    trainee,
    learningRate,
    micros.map((micro, i) => (): MicroLoss => {
      const { logProbabilities, entropy, hidden } = scorer.trace(micro.batch);
      const { advantages, weights, importance, selected } = decided.vectors[i]!;
      const { loss, metrics } = policyLoss(
        {
          logProbabilities,
          oldLogProbabilities: isOnPolicy ? null : tf.tensor1d(oldOf(micro, config)),
          referenceLogProbabilities: micro.reference === undefined ? null : tf.tensor1d(micro.reference),
          entropies: entropy(),
          advantages: tf.tensor1d(advantages),
          importanceWeights: importance === null ? null : tf.tensor1d(importance),
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
      const { ratioMax, ratioMin, ...shares } = metrics;
      kept.push({
        min: tf.keep(ratioMin.clone()),
        max: tf.keep(ratioMax.clone()),
        current: tf.keep(logProbabilities.clone()),
      });
      const measured = shares as unknown as Record<string, tf.Scalar>;
      if (critic === null) return { loss, metrics: measured };
      const ofCritic = criticLoss(critic, micro, { hidden, weights, denominator: decided.denominator });
      return {
        loss: tf.add(loss, tf.mul(ofCritic, critic.config.coefficient)),
        metrics: { ...measured, value_loss: ofCritic },
      };
    }),
  );
  const ratio = { minimum: Number.POSITIVE_INFINITY, maximum: Number.NEGATIVE_INFINITY };
  const current: Float32Array[] = [];
  for (const tensors of kept) {
    ratio.minimum = Math.min(ratio.minimum, (await tensors.min.data())[0]!);
    ratio.maximum = Math.max(ratio.maximum, (await tensors.max.data())[0]!);
    current.push(Float32Array.from(await tensors.current.data()));
    tf.dispose([tensors.min, tensors.max, tensors.current]);
  }
  const samples = micros.reduce((count, micro) => count + micro.samples.length, 0);
  control.observe(result.metrics, samples);
  const { loss, gradientNorm, applied } = result;
  return {
    applied,
    ratio,
    current,
    metrics: { ...named(result.metrics), ...decided.metrics, loss, gradientNorm },
  };
}

/** The decisions over the whole mini-batch, with the passes over it that they need. */
async function decide({ micros, scorer, config, isFirst, rng }: PolicyStepInputs): Promise<OptimizerBatch> {
  const entropies = needsEntropies(config) ? ([] as Float32Array[]) : null;
  const current: Float32Array[] = [];
  for (const micro of micros) {
    if (entropies !== null) {
      const scores = await scorer.withEntropy(micro.batch);
      entropies.push(withoutPadding(micro, scores.entropies));
      current.push(withoutPadding(micro, scores.logProbabilities));
    } else if (!isFirst && needsCurrent(config)) {
      current.push(withoutPadding(micro, await scorer.logProbabilities(micro.batch)));
    } else {
      current.push(withoutPadding(micro, micro.start ?? sampledOf(micro)));
    }
  }
  const starts = micros.map((micro) => micro.start && withoutPadding(micro, micro.start));
  return decideOptimizerBatch(
    micros,
    {
      current,
      old: micros.map((micro) => withoutPadding(micro, oldOf(micro, config))),
      start: starts.every((start) => start !== undefined) ? starts : null,
      entropies,
    },
    config,
    { longest: config.maxNewTokens, rng },
  );
}

/** What the ratio is taken against; the sampler's own where the trainer has computed none. */
const oldOf = (micro: ScoredMicroBatch, { importance }: AlgorithmConfig): Float32Array =>
  (importance.old === 'trainer' ? micro.start : undefined) ?? sampledOf(micro);

const sampledOf = (micro: MicroBatch): Float32Array =>
  micro.perToken(({ logProbabilities }) => logProbabilities);

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
