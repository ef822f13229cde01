import { tf } from '../../engine/index.ts';
import type { KlConfig } from '../config.ts';
import { detach, LOG_RATIO_LIMIT } from '../policy-losses/surrogate-inputs.ts';

/**
 * Estimators of KL(current || reference) from one sampled token, with d = log p_reference - log p_current:
 * k1 = -d, k2 = d^2 / 2, k3 = exp(d) - d - 1. Schulman, Approximating KL divergence (2020).
 */
export type KlEstimator = 'k1' | 'k2' | 'k3';

/**
 * Whose gradient the KL term has. The mean of k1 and k3 is the KL, but the mean of their gradients is not its
 * gradient; `k2` gives the value of the estimator the gradient of k2, `importance` multiplies by the ratio of
 * current to old probability. `plain` differentiates the estimator as GRPO does.
 */
export type KlGradient = KlConfig['gradient'];

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

/**
 * The estimate `kl` as it is differentiated.
 *
 * @param ratio [T] current over old probability, with its gradient
 */
export function klForLoss(
  gradient: KlGradient,
  kl: tf.Tensor,
  {
    logProbabilities,
    referenceLogProbabilities,
    ratio,
  }: { logProbabilities: tf.Tensor; referenceLogProbabilities: tf.Tensor; ratio: tf.Tensor },
): tf.Tensor {
  if (gradient === 'plain') return kl;
  if (gradient === 'importance') return kl.mul(ratio);
  const k2 = estimateKl('k2', logProbabilities, referenceLogProbabilities);
  return k2.sub(detach(k2)).add(detach(kl));
}
