import { type DiscountPer, type Trajectory, visitActionsBackwards } from './trajectory.ts';

export interface GaeTrajectory extends Trajectory {
  /** [T] value head's estimate before each token, of the weights that sampled; read at action tokens alone. */
  values: ArrayLike<number>;
}

export interface GaeOptions {
  /** gamma in [0, 1]. Default 1. */
  discount?: number;
  per?: DiscountPer;
  /** In [0, 1]; 1 is the return minus the value, 0 the one-step error. Default 0.95. */
  lambda?: number;
}

export interface GaeResult {
  /** [T], 0 at tokens that are no actions. Not whitened. */
  advantages: Float64Array;
  /** [T] what the value head is trained towards, advantage + value; 0 at tokens that are no actions. */
  returns: Float64Array;
}

/**
 * Generalised advantage estimation, delta_t = r_t + gamma V_next - V_t and A_t = delta_t + gamma lambda A_next
 * (arXiv 1506.02438, equation 16), where next is the next action token: V_next and A_next pass over
 * observations unchanged. After the last action both are 0. With the discount per turn, lambda still acts at
 * every token.
 */
export function generalisedAdvantages(
  trajectory: GaeTrajectory,
  { discount = 1, per = 'token', lambda = 0.95 }: GaeOptions = {},
): GaeResult {
  const { actions, rewards, values } = trajectory;
  if (values.length !== actions.length) {
    throw new RangeError(`generalisedAdvantages: ${values.length} values for ${actions.length} tokens`);
  }
  if (!(lambda >= 0 && lambda <= 1)) {
    throw new RangeError(`generalisedAdvantages: lambda is ${lambda}, allowed is [0, 1]`);
  }
  const advantages = new Float64Array(actions.length);
  const returns = new Float64Array(actions.length);
  let nextValue = 0;
  let nextAdvantage = 0;
  visitActionsBackwards(trajectory, discount, per, (t, gamma) => {
    const value = values[t] as number;
    const delta = (rewards[t] as number) + gamma * nextValue - value;
    nextAdvantage = delta + gamma * lambda * nextAdvantage;
    nextValue = value;
    advantages[t] = nextAdvantage;
    returns[t] = nextAdvantage + value;
  });
  return { advantages, returns };
}
