import type { Rng } from '../../core/index.ts';
import { tf } from '../../engine/index.ts';
import { type ClipBounds, clipSurrogate } from './clip.ts';
import { type Surrogate, type SurrogateInputs, tokenRatio } from './surrogate-inputs.ts';

/**
 * The tokens that drive the entropy down are those of large covariance between advantage and log-probability.
 * Cui et al., The Entropy Mechanism of Reinforcement Learning (arXiv 2505.22617).
 *
 * @returns per token (A - mean A) (log p - mean log p)
 */
export function tokenCovariances(
  advantages: ArrayLike<number>,
  logProbabilities: ArrayLike<number>,
): Float64Array {
  const tokens = advantages.length;
  if (logProbabilities.length !== tokens) {
    throw new RangeError(
      `tokenCovariances: ${tokens} advantages but ${logProbabilities.length} log-probabilities`,
    );
  }
  let [advantageMean, logMean] = [0, 0];
  for (let t = 0; t < tokens; t++) {
    advantageMean += (advantages[t] as number) / tokens;
    logMean += (logProbabilities[t] as number) / tokens;
  }
  return Float64Array.from(
    { length: tokens },
    (_, t) => ((advantages[t] as number) - advantageMean) * ((logProbabilities[t] as number) - logMean),
  );
}

/** All loss-bearing tokens of the optimizer batch, without padding. */
export interface BatchTokens {
  logProbabilities: ArrayLike<number>;
  oldLogProbabilities: ArrayLike<number>;
  advantages: ArrayLike<number>;
}

/**
 * Clip-Cov's choice: at random `share` of the tokens, but at least one, among those whose covariance lies in
 * (covarianceLow, covarianceHigh) and whose gain is not already clipped (arXiv 2505.22617).
 *
 * @returns 1 for each chosen token
 */
export function selectClipCov(
  tokens: BatchTokens,
  options: {
    share: number;
    covarianceLow: number;
    covarianceHigh: number;
    epsilonLow: number;
    epsilonHigh: number;
  },
  rng: Rng,
): Uint8Array {
  const { advantages, logProbabilities, oldLogProbabilities } = tokens;
  const count = advantages.length;
  const candidates: number[] = [];
  tokenCovariances(advantages, logProbabilities).forEach((covariance, t) => {
    const ratio = Math.exp((logProbabilities[t] as number) - (oldLogProbabilities[t] as number));
    const advantage = advantages[t] as number;
    const clipped =
      (advantage > 0 && ratio > 1 + options.epsilonHigh) || (advantage < 0 && ratio < 1 - options.epsilonLow);
    if (!clipped && covariance > options.covarianceLow && covariance < options.covarianceHigh) {
      candidates.push(t);
    }
  });
  const wanted = Math.max(1, Math.floor(options.share * count));
  return marked(count, rng.shuffle(candidates).slice(0, wanted));
}

/**
 * Kl-Cov's choice: the `share` of the tokens with the largest covariance, but at least one
 * (arXiv 2505.22617).
 *
 * @returns 1 for each chosen token
 */
export function selectKlCov(tokens: BatchTokens, { share }: { share: number }): Uint8Array {
  const covariances = tokenCovariances(tokens.advantages, tokens.logProbabilities);
  const order = [...covariances.keys()].sort(
    (a, b) => (covariances[b] as number) - (covariances[a] as number) || a - b,
  );
  return marked(covariances.length, order.slice(0, Math.max(1, Math.floor(share * covariances.length))));
}

/** The clipped surrogate without the selected tokens. Clip-Cov (arXiv 2505.22617). */
export function clipCovSurrogate(inputs: SurrogateInputs, bounds: ClipBounds): Surrogate {
  const surrogate = clipSurrogate(inputs, bounds);
  return { ...surrogate, objective: surrogate.objective.mul(tf.sub(1, selectedTokens(inputs))) };
}

/**
 * r A, less a penalty c |log r| at the selected tokens. KL-Cov (arXiv 2505.22617), with the absolute
 * log-ratio as its published code has it.
 */
export function klCovSurrogate(inputs: SurrogateInputs, { coefficient }: { coefficient: number }): Surrogate {
  const ratio = tokenRatio(inputs);
  const distance = tf.abs(inputs.current.sub(inputs.old));
  const penalty = distance.mul(selectedTokens(inputs)).mul(coefficient);
  return {
    objective: ratio.mul(inputs.advantages).sub(penalty),
    ratio,
    clippedLow: null,
    clippedHigh: null,
  };
}

function selectedTokens({ selected }: SurrogateInputs): tf.Tensor {
  if (selected === null) throw new RangeError('policy loss: clip-cov and kl-cov need the selected tokens');
  return selected;
}

function marked(length: number, positions: readonly number[]): Uint8Array {
  const marks = new Uint8Array(length);
  for (const t of positions) marks[t] = 1;
  return marks;
}
