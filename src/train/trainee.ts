import { AdamW, type tf } from '../engine/index.ts';
import type { OptimizerSettings } from './settings.ts';
import type { Trainee } from './update.ts';

/** From here on (256 MB of each moment) the memory of a step counts for more than its speed. */
export const LARGEST_PACKED = 2 ** 26;

/** An optimiser over the chosen parameters of a model. */
export function traineeOf(
  parameters: ReadonlyMap<string, tf.Variable>,
  settings: OptimizerSettings,
  learningRateMultiplier: (name: string) => number = () => 1,
): Trainee {
  return {
    parameters,
    optimizer: new AdamW(parameters, {
      betas: [settings.beta1, settings.beta2],
      epsilon: settings.epsilon,
      weightDecay: settings.weightDecay,
      maxGradientNorm: settings.clipNorm,
      learningRateMultiplier,
      layout: numbersIn(parameters) > LARGEST_PACKED ? 'sequential' : 'packed',
    }),
  };
}

/** The variables of the given names, in their order. */
export function pickParameters(
  parameters: ReadonlyMap<string, tf.Variable>,
  names: readonly string[],
): Map<string, tf.Variable> {
  return new Map(names.map((name) => [name, parameters.get(name)!]));
}

const numbersIn = (parameters: ReadonlyMap<string, tf.Variable>): number =>
  [...parameters.values()].reduce((sum, { size }) => sum + size, 0);
