import { ConfigError } from '../core/index.ts';
import { changingScalars, tf } from '../engine/index.ts';
import { estimateKl, type KlEstimator, type KlGradient, klForLoss } from './kl/estimators.ts';
import { policySurrogate, type ResolvedPolicyLoss } from './policy-losses/surrogate.ts';
import { detach, tokenSequences } from './policy-losses/surrogate-inputs.ts';

export interface PolicyLossOptions {
  /** The surrogate, as `preparePolicyLoss` returns it. Default: `clip` with the next three options. */
  surrogate?: ResolvedPolicyLoss;
  /** The ratio is clipped to [1 - epsilonLow, 1 + epsilonHigh]. Default 0.2 and 0.2. */
  epsilonLow?: number;
  epsilonHigh?: number;
  /** For negative advantages the loss is at most -dualClip * advantage; > 1. null (default): no bound. */
  dualClip?: number | null;
  klEstimator?: KlEstimator;
  /** Default `plain`. */
  klGradient?: KlGradient;
  /**
   * Weight of the KL term, >= 0. Default 0; then the KL is only measured. One that moves from step to step should
   * be a scalar of `changingScalars`, whose graph is the same for every value.
   */
  klCoefficient?: number | tf.Scalar;
  /** Weight of the entropy bonus, >= 0. Default 0; then the entropy is only measured. If it moves: as above. */
  entropyCoefficient?: number | tf.Scalar;
}

/** Flat vectors [T] over the action tokens of one micro-batch. Padding has weight 0 and finite values. */
export interface PolicyLossInputs {
  /** log p of the sampled tokens under the current weights; carries the gradient. */
  logProbabilities: tf.Tensor1D;
  /** The same under the weights that the ratio is taken against; null: the current ones, the ratio is 1. */
  oldLogProbabilities: tf.Tensor1D | null;
  /** The same under the reference model; null where there is none. */
  referenceLogProbabilities: tf.Tensor1D | null;
  /** Entropy of the current distribution at each token, in nats; null where it was not computed. */
  entropies?: tf.Tensor1D | null;
  advantages: tf.Tensor1D;
  /**
   * Detached factors on the surrogate: importance weights of off-policy tokens, 0 for sequences that are masked
   * as off-policy and for tokens of low entropy. Neither KL nor entropy nor the denominator are touched.
   */
  importanceWeights?: tf.Tensor1D | null;
  /** Tokens of each sequence, in order; needed by losses with a ratio per sequence. */
  tokensPerSequence?: readonly number[];
  /** 1 for the tokens that `preparePolicyLoss` selected; needed by the covariance losses. */
  selected?: tf.Tensor1D | null;
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
  /**
   * Share of tokens whose gain was cut at the lower bound (negative advantage) or the upper one (positive); 0 for
   * losses without such bounds.
   */
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

/**
 * Per token -surrogate * importance + beta * KL - c * entropy, summed with the weights and divided by the global
 * denominator. By default the clipped surrogate of PPO (arXiv 1707.06347), equation 7, as GRPO has it
 * (arXiv 2402.03300, equations 3 and 4); the others are in `policy-losses/`.
 *
 * Call inside the function that is differentiated and `tf.keep` the metrics that are read after it.
 */
export function policyLoss(inputs: PolicyLossInputs, options: PolicyLossOptions = {}): PolicyLoss {
  const { chosen, klEstimator, klGradient, klCoefficient, entropyCoefficient } = checkOptions(options);
  const { logProbabilities: current, referenceLogProbabilities: reference, advantages, weights } = inputs;
  checkInputs(inputs);
  const { perLoss, perToken } = changingScalars({
    perLoss: 1 / inputs.denominator,
    perToken: 1 / inputs.totalTokens,
  });
  const mask = tf.cast(tf.greater(weights, 0), 'float32');
  const weightedLoss = (values: tf.Tensor): tf.Scalar => tf.sum(values.mul(weights)).mul(perLoss);
  const tokenMean = (values: tf.Tensor): tf.Scalar => tf.sum(values.mul(mask)).mul(perToken);

  const { objective, ratio, clippedLow, clippedHigh } = policySurrogate(chosen, {
    current,
    old: inputs.oldLogProbabilities ?? detach(current),
    advantages,
    mask,
    sequences:
      inputs.tokensPerSequence === undefined ? null : tokenSequences(inputs.tokensPerSequence, current.size),
    selected: inputs.selected ?? null,
  });
  const factors = inputs.importanceWeights;
  const surrogate = weightedLoss((factors ? objective.mul(factors) : objective).neg());
  let loss = surrogate;

  const shareOf = (tokens: tf.Tensor | null): tf.Scalar =>
    tokens === null ? tf.scalar(0) : tokenMean(tf.cast(tokens, 'float32'));
  const metrics: PolicyLossMetrics = {
    clipRatioLow: shareOf(clippedLow),
    clipRatioHigh: shareOf(clippedHigh),
    ratioMean: tokenMean(ratio),
    // Padding counts as ratio 1, which is between the extremes or as good as them.
    ratioMax: tf.max(ratio.sub(1).mul(mask)).add(1) as tf.Scalar,
    ratioMin: tf.min(ratio.sub(1).mul(mask)).add(1) as tf.Scalar,
    surrogate,
  };
  if (reference) {
    const kl = estimateKl(klEstimator, current, reference);
    metrics.kl = tokenMean(kl);
    if (acts(klCoefficient)) {
      const term = klForLoss(klGradient, kl, {
        logProbabilities: current,
        referenceLogProbabilities: reference,
        ratio,
      });
      loss = loss.add(weightedLoss(term).mul(klCoefficient));
    }
  } else if (acts(klCoefficient)) {
    throw new ConfigError(
      `KL coefficient is ${klCoefficient}, but there are no reference log-probabilities`,
      {
        hint: 'set the coefficient to 0 or keep a reference model',
      },
    );
  }
  if (inputs.entropies) {
    metrics.entropy = tokenMean(inputs.entropies);
    if (acts(entropyCoefficient)) {
      loss = loss.sub(weightedLoss(inputs.entropies).mul(entropyCoefficient));
    }
  } else if (acts(entropyCoefficient)) {
    throw new ConfigError(`entropy coefficient is ${entropyCoefficient}, but no entropies were given`);
  }
  return { loss, metrics };
}

/** A coefficient that is data always acts: its value is not known while the graph is recorded. */
const acts = (coefficient: number | tf.Scalar): boolean => typeof coefficient !== 'number' || coefficient > 0;

function checkOptions({
  epsilonLow = 0.2,
  epsilonHigh = 0.2,
  dualClip = null,
  surrogate,
  klEstimator = 'k3',
  klGradient = 'plain',
  klCoefficient = 0,
  entropyCoefficient = 0,
}: PolicyLossOptions) {
  const problems: string[] = [];
  if (!(epsilonLow > 0 && epsilonLow < 1)) problems.push(`epsilonLow is ${epsilonLow}, allowed is (0, 1)`);
  if (!(epsilonHigh > 0)) problems.push(`epsilonHigh is ${epsilonHigh}, allowed is > 0`);
  if (dualClip !== null && !(dualClip > 1)) problems.push(`dualClip is ${dualClip}, allowed is > 1 or null`);
  for (const [name, value] of Object.entries({ klCoefficient, entropyCoefficient })) {
    if (typeof value === 'number' && !(value >= 0)) problems.push(`${name} is ${value}, allowed is >= 0`);
  }
  if (problems.length > 0) throw new ConfigError(`policy loss: ${problems.join('; ')}`);
  const chosen: ResolvedPolicyLoss = surrogate ?? { kind: 'clip', epsilonLow, epsilonHigh, dualClip };
  return { chosen, klEstimator, klGradient, klCoefficient, entropyCoefficient };
}

function checkInputs(inputs: PolicyLossInputs): void {
  const length = inputs.logProbabilities.size;
  const vectors = {
    oldLogProbabilities: inputs.oldLogProbabilities,
    referenceLogProbabilities: inputs.referenceLogProbabilities,
    entropies: inputs.entropies,
    advantages: inputs.advantages,
    importanceWeights: inputs.importanceWeights,
    selected: inputs.selected,
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
