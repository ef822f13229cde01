import { setImmediate } from 'node:timers/promises';
import { EngineError } from '../core/index.ts';
import { type AdamW, GradientAccumulator, runPending, tf } from '../engine/index.ts';

/** What a micro-batch contributes: its share of the loss (already over the global denominator), and metrics. */
export interface MicroLoss {
  loss: tf.Scalar;
  /** Sums over the micro-batch, already divided by the global denominator: they add up over micro-batches. */
  metrics?: Record<string, tf.Scalar>;
}

export interface UpdateResult {
  loss: number;
  gradientNorm: number;
  applied: boolean;
  metrics: Record<string, number>;
}

/** One trained parameter set with its optimiser. */
export interface Trainee {
  parameters: ReadonlyMap<string, tf.Variable>;
  optimizer: AdamW;
}

/**
 * One optimiser step over micro-batches. Each loss closure builds its part of the global loss; the gradients
 * add up, so 1 x 8 and 8 x 1 give the same step. A step whose gradient norm is not finite changes nothing and
 * says so.
 */
export async function update(
  { parameters, optimizer }: Trainee,
  learningRate: number,
  micros: readonly (() => MicroLoss)[],
): Promise<UpdateResult> {
  if (micros.length === 0) throw new EngineError('update: got no micro-batch');
  // A compiled run blocks the event loop: without this pause Ctrl-C and progress would never get a turn.
  await setImmediate();
  const kept: { name: string; tensor: tf.Tensor }[] = [];
  const keep = (name: string, tensor: tf.Tensor) => kept.push({ name, tensor: tf.keep(tensor.clone()) });
  const variables = [...parameters.values()];
  const accumulator = micros.length > 1 ? new GradientAccumulator() : null;

  const gradientsOf = (micro: () => MicroLoss): Map<string, tf.Tensor> => {
    let metrics: Record<string, tf.Scalar> = {};
    const { value, grads } = tf.variableGrads(() => {
      const parts = micro();
      metrics = parts.metrics ?? {};
      for (const [name, tensor] of Object.entries(metrics)) keep(name, tensor);
      return parts.loss;
    }, variables);
    keep('loss', value);
    return new Map(
      [...parameters].map(([name, variable]) => {
        const gradient = grads[variable.name];
        if (gradient === undefined || gradient === null) {
          throw new EngineError(`the loss does not reach parameter ${name}`, {
            hint: 'freeze it, or leave it out of the stage',
          });
        }
        return [name, gradient];
      }),
    );
  };

  try {
    for (const micro of micros) {
      if (accumulator === null) continue;
      tf.tidy(() => accumulator.add(gradientsOf(micro)));
      await runPending();
    }
    tf.tidy(() => {
      const gradients = accumulator === null ? gradientsOf(micros[0]!) : accumulator.take();
      const step = optimizer.step(gradients, { learningRate });
      keep('gradientNorm', step.gradientNorm);
      keep('applied', step.applied);
      if (accumulator !== null) for (const gradient of gradients.values()) gradient.dispose();
    });
    await runPending();
    const sums: Record<string, number> = {};
    for (const { name, tensor } of kept) sums[name] = (sums[name] ?? 0) + (await tensor.data())[0]!;
    const { loss, gradientNorm, applied, ...metrics } = sums as Record<string, number> & {
      loss: number;
      gradientNorm: number;
      applied: number;
    };
    if (applied !== 1) optimizer.discountSkippedStep();
    return { loss, gradientNorm, applied: applied === 1, metrics };
  } finally {
    for (const { tensor } of kept) tensor.dispose();
    accumulator?.dispose();
  }
}
