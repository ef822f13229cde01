import * as tf from '@tensorflow/tfjs';
import { EngineError } from '../../core/index.ts';

/**
 * Sums gradients over micro-batches. Sums, not means: each micro-batch's loss is already divided by the
 * global denominator, so that 1 x 8 and 8 x 1 give the same gradient.
 */
export class GradientAccumulator {
  #sums: Map<string, tf.Tensor> | null = null;
  #count = 0;

  /** Micro-batches added since the last {@link take}. */
  get count(): number {
    return this.#count;
  }

  /** Adds one micro-batch. The given tensors stay the caller's; the sums outlive any `tf.tidy`. */
  add(gradients: ReadonlyMap<string, tf.Tensor>): void {
    const sums = this.#sums;
    if (sums === null) {
      this.#sums = new Map([...gradients].map(([name, gradient]) => [name, tf.keep(gradient.clone())]));
    } else {
      const missing = [...sums.keys()].filter((name) => !gradients.has(name));
      const unknown = [...gradients.keys()].filter((name) => !sums.has(name));
      if (missing.length + unknown.length > 0) {
        throw new EngineError(
          `gradients differ between micro-batches: missing [${missing}], unknown [${unknown}]`,
          { hint: 'give zeros for a parameter that one micro-batch does not reach' },
        );
      }
      for (const [name, gradient] of gradients) {
        const old = sums.get(name)!;
        sums.set(name, tf.keep(tf.tidy(() => tf.add(old, gradient))));
        old.dispose();
      }
    }
    this.#count++;
  }

  /** Hands over the sums and starts anew. The caller disposes them; they survive `tf.tidy`. */
  take(): Map<string, tf.Tensor> {
    const sums = this.#sums;
    if (sums === null) throw new EngineError('GradientAccumulator.take: nothing was added');
    this.#sums = null;
    this.#count = 0;
    return sums;
  }

  /** Drops the sums. */
  dispose(): void {
    if (this.#sums !== null) for (const tensor of this.#sums.values()) tensor.dispose();
    this.#sums = null;
    this.#count = 0;
  }
}
