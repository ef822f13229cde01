import type { KlEstimator } from './estimators.ts';

/** The estimators in plain numbers: of KL(policy || reference), d = log p_reference - log p. */
export function klOfToken(estimator: KlEstimator, logProbability: number, reference: number): number {
  const difference = reference - logProbability;
  if (estimator === 'k1') return -difference;
  if (estimator === 'k2') return difference ** 2 / 2;
  return Math.expm1(difference) - difference;
}

/**
 * The KL penalty in the reward, r_t - beta KL_t at every action token. Ziegler et al., Fine-Tuning Language
 * Models from Human Preferences (arXiv 1909.08593), equation 2.
 *
 * @param rewards [T] @param actions mask of the action tokens [T]
 * @param logProbabilities [T] under the weights that sampled @param reference [T] under the reference
 * @returns the new rewards [T] and the mean KL over the action tokens, 0 for none
 */
export function klPenalisedRewards(
  {
    rewards,
    actions,
    logProbabilities,
    reference,
  }: {
    rewards: ArrayLike<number>;
    actions: ArrayLike<boolean | number>;
    logProbabilities: ArrayLike<number>;
    reference: ArrayLike<number>;
  },
  { estimator, coefficient }: { estimator: KlEstimator; coefficient: number },
): { rewards: Float64Array; meanKl: number } {
  for (const [name, values] of Object.entries({ actions, logProbabilities, reference })) {
    if (values.length !== rewards.length) {
      throw new RangeError(
        `klPenalisedRewards: ${name} has ${values.length} tokens, rewards ${rewards.length}`,
      );
    }
  }
  let [sum, count] = [0, 0];
  const penalised = Float64Array.from(rewards, (reward, t) => {
    if (!actions[t]) return reward;
    const kl = klOfToken(estimator, logProbabilities[t] as number, reference[t] as number);
    sum += kl;
    count++;
    return reward - coefficient * kl;
  });
  return { rewards: penalised, meanKl: count === 0 ? 0 : sum / count };
}
