import { type DiscountPer, type Trajectory, visitActionsBackwards } from './trajectory.ts';

/**
 * Discounted return-to-go of each action token, G_t = r_t + gamma G_next, where next is the next action token:
 * tokens between two turns carry the return unchanged. Sutton and Barto, Reinforcement Learning, equation 3.9.
 *
 * @param discount gamma in [0, 1]
 * @returns [T], 0 at tokens that are no actions
 */
export function returnsToGo(
  trajectory: Trajectory,
  { discount = 1, per = 'token' }: { discount?: number; per?: DiscountPer } = {},
): Float64Array {
  const returns = new Float64Array(trajectory.actions.length);
  let following = 0;
  visitActionsBackwards(trajectory, discount, per, (t, gamma) => {
    following = (trajectory.rewards[t] as number) + gamma * following;
    returns[t] = following;
  });
  return returns;
}
