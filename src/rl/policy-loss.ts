import { ConfigError } from '../core/index.ts';
import { changingScalars, tf } from '../engine/index.ts';

/**
 * Estimators of KL(current || reference) from one sampled token, with d = log p_reference - log p_current:
 * k1 = -d, k2 = d^2 / 2, k3 = exp(d) - d - 1. Schulman, Approximating KL divergence (2020).
 */
export type KlEstimator = 'k1' | 'k2' | 'k3';

export interface PolicyLossOptions {
  /** The ratio is clipped to [1 - epsilonLow, 1 + epsilonHigh]. Default 0.2 and 0.2. */
  epsilonLow?: number;
  epsilonHigh?: number;
  /** For negative advantages the loss is at most -dualClip * advantage; > 1. null (default): no bound. */
  dualClip?: number | null;
  klEstimator?: KlEstimator;
  /** Weight of the KL term, >= 0. Default 0; then the KL is only measured. */
  klCoefficient?: number;
  /** Weight of the entropy bonus, >= 0. Default 0; then the entropy is only measured. */
  entropyCoefficient?: number;
}

/** Flat vectors [T] over the action tokens of one micro-batch. Padding has weight 0 and finite values. */
export interface PolicyLossInputs {
  /** log p of the sampled tokens under the current weights; carries the gradient. */
  logProbabilities: tf.Tensor1D;
  /** The same under the weights at the start of the optimisation of this batch. */
  oldLogProbabilities: tf.Tensor1D;
  /** The same under the reference model; null where there is none. */
  referenceLogProbabilities: tf.Tensor1D | null;
  /** Entropy of the current distribution at each token, in nats; null where it was not computed. */
  entropies?: tf.Tensor1D | null;
  advantages: tf.Tensor1D;
  /** Detached factors on the surrogate, such as truncated importance weights of off-policy tokens. */
  importanceWeights?: tf.Tensor1D | null;
  /** Weight of each token in the loss (`tokenWeights`); 0 for padding. */
  weights: tf.Tensor1D;
  /** Divides the sum over tokens; of the whole optimizer batch (`globalDenominator`). */
  denominator: number;
  /** Loss-bearing tokens of the whole optimizer batch; divides the metrics. */
  totalTokens: number;
}

/**
 * Rank-0 tensors. All but the extremes are shares of the means over the whole optimizer batch: add them up
 * over micro-batches. `ratioMax` and `ratioMin` combine by maximum and minimum.
 */
export interface PolicyLossMetrics {
  /** Share of tokens whose gain was cut at 1 - epsilonLow (negative advantage) or 1 + epsilonHigh (positive). */
  clipRatioLow: tf.Scalar;
  clipRatioHigh: tf.Scalar;
  ratioMean: tf.Scalar;
  ratioMax: tf.Scalar;
  ratioMin: tf.Scalar;
  /** The surrogate alone, without KL and entropy, in the loss's own weighting. */
  surrogate: tf.Scalar;
  /** KL to the reference by the chosen estimator. */
  kl?: tf.Scalar;
  entropy?: tf.Scalar;
}

export interface PolicyLoss {
  /** Rank 0, to be minimised. */
  loss: tf.Scalar;
  metrics: PolicyLossMetrics;
}

// exp of more overflows float32 in a product; clipping has long cut the gradient there.
const LOG_RATIO_LIMIT = 20;

/**
 * The clipped surrogate with asymmetric range, per token
 * -min(ratio * A, clip(ratio, 1 - epsilonLow, 1 + epsilonHigh) * A) * importance + beta * KL - c * entropy,
 * summed with the weights and divided by the global denominator. PPO (arXiv 1707.06347), equation 7; GRPO
 * (arXiv 2402.03300), equations 3 and 4; asymmetric range: DAPO (arXiv 2503.14476), equation 10; dual clip:
 * Ye et al. (arXiv 1912.09729).
 *
 * Call inside the function that is differentiated and `tf.keep` the metrics that are read after it.
 */
export function policyLoss(inputs: PolicyLossInputs, options: PolicyLossOptions = {}): PolicyLoss {
  const { epsilonLow, epsilonHigh, dualClip, klEstimator, klCoefficient, entropyCoefficient } =
    checkOptions(options);
  const { logProbabilities: current, oldLogProbabilities: old, advantages, weights } = inputs;
  checkInputs(inputs);
  const { perLoss, perToken } = changingScalars({
    perLoss: 1 / inputs.denominator,
    perToken: 1 / inputs.totalTokens,
  });
  const mask = tf.cast(tf.greater(weights, 0), 'float32');
  const weightedLoss = (values: tf.Tensor): tf.Scalar => tf.sum(values.mul(weights)).mul(perLoss);
  const tokenMean = (values: tf.Tensor): tf.Scalar => tf.sum(values.mul(mask)).mul(perToken);

  const ratio = tf.exp(tf.clipByValue(current.sub(old), -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT));
  const gain = ratio.mul(advantages);
  const clippedGain = tf.clipByValue(ratio, 1 - epsilonLow, 1 + epsilonHigh).mul(advantages);
  let objective = tf.minimum(gain, clippedGain);
  // The bound touches negative advantages alone: for the others it is 0, and the objective is never below.
  if (dualClip !== null) objective = tf.maximum(objective, tf.minimum(advantages, 0).mul(dualClip));
  if (inputs.importanceWeights) objective = objective.mul(inputs.importanceWeights);
  const surrogate = weightedLoss(objective.neg());
  let loss = surrogate;

  const metrics: PolicyLossMetrics = {
    clipRatioLow: tokenMean(
      tf.cast(tf.logicalAnd(tf.less(ratio, 1 - epsilonLow), tf.less(advantages, 0)), 'float32'),
    ),
    clipRatioHigh: tokenMean(
      tf.cast(tf.logicalAnd(tf.greater(ratio, 1 + epsilonHigh), tf.greater(advantages, 0)), 'float32'),
    ),
    ratioMean: tokenMean(ratio),
    // Padding counts as ratio 1, which is between the extremes or as good as them.
    ratioMax: tf.max(ratio.sub(1).mul(mask)).add(1) as tf.Scalar,
    ratioMin: tf.min(ratio.sub(1).mul(mask)).add(1) as tf.Scalar,
    surrogate,
  };
  if (inputs.referenceLogProbabilities) {
    const kl = estimateKl(klEstimator, current, inputs.referenceLogProbabilities);
    metrics.kl = tokenMean(kl);
    if (klCoefficient > 0) loss = loss.add(weightedLoss(kl).mul(klCoefficient));
  } else if (klCoefficient > 0) {
    throw new ConfigError(
      `KL coefficient is ${klCoefficient}, but there are no reference log-probabilities`,
      {
        hint: 'set the coefficient to 0 or keep a reference model',
      },
    );
  }
  if (inputs.entropies) {
    metrics.entropy = tokenMean(inputs.entropies);
    if (entropyCoefficient > 0) loss = loss.sub(weightedLoss(inputs.entropies).mul(entropyCoefficient));
  } else if (entropyCoefficient > 0) {
    throw new ConfigError(`entropy coefficient is ${entropyCoefficient}, but no entropies were given`);
  }
  return { loss, metrics };
}

/** Per-token estimate of KL(current || reference) [T], from tokens sampled by the current policy. */
export function estimateKl(
  estimator: KlEstimator,
  logProbabilities: tf.Tensor,
  referenceLogProbabilities: tf.Tensor,
): tf.Tensor {
  const difference = referenceLogProbabilities.sub(logProbabilities);
  if (estimator === 'k1') return difference.neg();
  if (estimator === 'k2') return tf.square(difference).mul(0.5);
  const bounded = tf.clipByValue(difference, -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT);
  return tf.exp(bounded).sub(difference).sub(1);
}

function checkOptions({
  epsilonLow = 0.2,
  epsilonHigh = 0.2,
  dualClip = null,
  klEstimator = 'k3',
  klCoefficient = 0,
  entropyCoefficient = 0,
}: PolicyLossOptions) {
  const problems: string[] = [];
  if (!(epsilonLow > 0 && epsilonLow < 1)) problems.push(`epsilonLow is ${epsilonLow}, allowed is (0, 1)`);
  if (!(epsilonHigh > 0)) problems.push(`epsilonHigh is ${epsilonHigh}, allowed is > 0`);
  if (dualClip !== null && !(dualClip > 1)) problems.push(`dualClip is ${dualClip}, allowed is > 1 or null`);
  if (!(klCoefficient >= 0)) problems.push(`klCoefficient is ${klCoefficient}, allowed is >= 0`);
  if (!(entropyCoefficient >= 0))
    problems.push(`entropyCoefficient is ${entropyCoefficient}, allowed is >= 0`);
  if (problems.length > 0) throw new ConfigError(`policy loss: ${problems.join('; ')}`);
  return { epsilonLow, epsilonHigh, dualClip, klEstimator, klCoefficient, entropyCoefficient };
}

function checkInputs(inputs: PolicyLossInputs): void {
  const length = inputs.logProbabilities.size;
  const vectors = {
    oldLogProbabilities: inputs.oldLogProbabilities,
    referenceLogProbabilities: inputs.referenceLogProbabilities,
    entropies: inputs.entropies,
    advantages: inputs.advantages,
    importanceWeights: inputs.importanceWeights,
    weights: inputs.weights,
  };
  for (const [name, vector] of Object.entries(vectors)) {
    if (vector && vector.size !== length) {
      throw new RangeError(`policyLoss: ${name} has ${vector.size} tokens, logProbabilities has ${length}`);
    }
  }
  for (const name of ['denominator', 'totalTokens'] as const) {
    if (!(inputs[name] > 0)) throw new RangeError(`policyLoss: ${name} is ${inputs[name]}, allowed is > 0`);
  }
}
