import type { RewardValue, Rng } from '../../core/index.ts';
import { tf } from '../../engine/index.ts';
import { detach } from '../../rl/index.ts';
import type { CriticConfig } from './config.ts';

/** A value head on the policy's trunk. */
export interface Critic {
  config: CriticConfig;
  /** `critic.weight` [1, hidden] and `critic.bias` [1]: trained beside the policy, part of a checkpoint, dropped with the stage. */
  variables: ReadonlyMap<string, tf.Variable>;
}

const WEIGHT = 'critic.weight';
const BIAS = 'critic.bias';

/** Values near 0. Not exactly there: an all-equal tensor would be a constant of the compiled graph. */
export function createCritic(hiddenSize: number, config: CriticConfig, rng: Rng): Critic {
  const weight = Float32Array.from({ length: hiddenSize }, () => rng.normal(0, 0.02));
  return {
    config,
    variables: new Map<string, tf.Variable>([
      [WEIGHT, tf.variable(tf.tensor2d(weight, [1, hiddenSize]))],
      [BIAS, tf.variable(tf.tensor1d([rng.normal(0, 1e-4)]))],
    ]),
  };
}

/**
 * Lets the head tell the mean reward for every token, before its first update: it would need many steps to come there,
 * and until then the advantage of a token would depend on its distance from the end (with lambda below 1).
 */
export function startAtMean({ variables }: Critic, rewards: readonly RewardValue[]): void {
  const known = rewards.flatMap((reward) => (reward.status === 'ok' ? [reward.value] : []));
  if (known.length === 0) return;
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  tf.tidy(() => variables.get(BIAS)!.assign(tf.tensor1d([mean])));
}

/** Learning rates of a policy and its critic, which share an optimiser. */
export const criticRates =
  ({ config, variables }: Critic) =>
  (name: string): number =>
    variables.has(name) ? config.learningRateFactor : 1;

/**
 * w . h / sqrt(hidden size) + b at the given rows. Divided so that the head's gradient is of the size of its error, as
 * policy and head share one limit of the gradient norm.
 *
 * @param hidden [B, T, hidden]
 * @param rows [n] of [B * T]: for the value before an action token, the position that predicts it
 * @returns [n]
 */
export function predictValues(
  { config, variables }: Critic,
  hidden: tf.Tensor3D,
  rows: Int32Array,
): tf.Tensor1D {
  const [size, length, width] = hidden.shape;
  const states = tf.gather(tf.reshape(hidden, [size * length, width]), tf.tensor1d(rows, 'int32'));
  const seen = config.detach ? detach(states) : states;
  const products = tf.sum(tf.mul(seen, variables.get(WEIGHT)!), -1);
  return tf.add(tf.mul(products, 1 / Math.sqrt(width)), variables.get(BIAS)!);
}
