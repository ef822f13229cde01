/**
 * One response as its tokens lie in the sequence: several turns of the policy with observations between them.
 * All lists have the response's length T.
 */
export interface Trajectory {
  /** Truthy for tokens that the policy sampled; falsy for observations and padding. */
  actions: ArrayLike<boolean | number>;
  /** Reward given at each token; 0 at every token that is no action. */
  rewards: ArrayLike<number>;
}

/**
 * Where the discount acts: at every action token, or once between two turns (a turn is a run of action tokens
 * without another token between them), so that a long answer costs no more than a short one.
 */
export type DiscountPer = 'token' | 'turn';

/**
 * The rewards of a trajectory that is judged as a whole: `reward` at its last action token, 0 elsewhere. Not at
 * the last token: after a multi-turn rollout that is an observation, which no estimator reads.
 */
export function terminalRewards(actions: ArrayLike<boolean | number>, reward: number): Float64Array {
  const last = lastAction(actions);
  if (last < 0) throw new RangeError('terminalRewards: the trajectory has no action token');
  const rewards = new Float64Array(actions.length);
  rewards[last] = reward;
  return rewards;
}

/** Number of action tokens. */
export function actionCount(actions: ArrayLike<boolean | number>): number {
  let count = 0;
  for (let t = 0; t < actions.length; t++) if (actions[t]) count++;
  return count;
}

/**
 * Visits the action tokens from the last to the first.
 *
 * @param visit gets the token's position and the discount between it and the action token after it (1 for the
 *   last)
 * @throws RangeError for a reward at a token that is no action: it would be lost
 */
export function visitActionsBackwards(
  { actions, rewards }: Trajectory,
  discount: number,
  per: DiscountPer,
  visit: (position: number, discount: number) => void,
): void {
  if (rewards.length !== actions.length) {
    throw new RangeError(`trajectory: ${rewards.length} rewards for ${actions.length} tokens`);
  }
  if (!(discount >= 0 && discount <= 1)) {
    throw new RangeError(`trajectory: discount is ${discount}, allowed is [0, 1]`);
  }
  let next = -1;
  for (let t = actions.length - 1; t >= 0; t--) {
    if (!actions[t]) {
      if (rewards[t] !== 0) {
        throw new RangeError(
          `trajectory: reward ${rewards[t]} at token ${t}, which is no action: put it on the action before it`,
        );
      }
      continue;
    }
    const sameTurn = next === t + 1;
    visit(t, next < 0 || (per === 'turn' && sameTurn) ? 1 : discount);
    next = t;
  }
}

function lastAction(actions: ArrayLike<boolean | number>): number {
  let t = actions.length - 1;
  while (t >= 0 && !actions[t]) t--;
  return t;
}
