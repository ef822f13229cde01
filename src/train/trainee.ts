import { AdamW, type tf } from '../engine/index.ts';
import type { OptimizerSettings } from './settings.ts';
import type { Trainee } from './update.ts';

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
