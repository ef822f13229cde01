import { z } from 'zod';
import { changingScalars, type tf } from '../engine/index.ts';
import { AdaptiveEntropyCoefficient, AdaptiveKlCoefficient, type AlgorithmConfig } from '../rl/index.ts';

export const algorithmControlStateSchema = z.strictObject({
  kl: z.strictObject({ value: z.number() }).nullable(),
  entropy: z.strictObject({ coefficient: z.number(), below: z.boolean() }).nullable(),
});
export type AlgorithmControlState = z.infer<typeof algorithmControlStateSchema>;

/** The coefficients of KL and entropy: numbers that stay, or controllers that move after every optimizer step. */
export class AlgorithmControl {
  readonly #kl: AdaptiveKlCoefficient | number;
  readonly #entropy: AdaptiveEntropyCoefficient | number;

  constructor({ kl, entropy }: Pick<AlgorithmConfig, 'kl' | 'entropy'>) {
    const { coefficient } = kl;
    const { bonus } = entropy;
    this.#kl = coefficient.kind === 'fixed' ? coefficient.value : new AdaptiveKlCoefficient(coefficient);
    this.#entropy = bonus.kind === 'fixed' ? bonus.coefficient : new AdaptiveEntropyCoefficient(bonus);
  }

  get klCoefficient(): number {
    return typeof this.#kl === 'number' ? this.#kl : this.#kl.value;
  }

  get entropyCoefficient(): number {
    return typeof this.#entropy === 'number' ? this.#entropy : this.#entropy.value;
  }

  /** For the loss: one that moves is data of the graph, so that every step runs the same graph. */
  get klInLoss(): number | tf.Scalar {
    return typeof this.#kl === 'number' ? this.#kl : changingScalars({ kl: this.#kl.value }).kl;
  }

  get entropyInLoss(): number | tf.Scalar {
    return typeof this.#entropy === 'number'
      ? this.#entropy
      : changingScalars({ entropy: this.#entropy.value }).entropy;
  }

  /** What one optimizer step measured; a value that is not there or not finite moves nothing. */
  observe({ kl, entropy }: { kl?: number; entropy?: number }, samples: number): void {
    if (typeof this.#kl !== 'number' && Number.isFinite(kl)) this.#kl.observe(kl as number, samples);
    if (typeof this.#entropy !== 'number' && Number.isFinite(entropy)) {
      this.#entropy.observe(entropy as number);
    }
  }

  /** The coefficients that move, for the log. */
  metrics(): Record<string, number> {
    return {
      ...(typeof this.#kl === 'number' ? {} : { kl_coefficient: this.#kl.value }),
      ...(typeof this.#entropy === 'number' ? {} : { entropy_coefficient: this.#entropy.value }),
    };
  }

  state(): AlgorithmControlState {
    return {
      kl: typeof this.#kl === 'number' ? null : this.#kl.state(),
      entropy: typeof this.#entropy === 'number' ? null : this.#entropy.state(),
    };
  }

  restore({ kl, entropy }: AlgorithmControlState): void {
    if (typeof this.#kl !== 'number' && kl !== null) this.#kl.restore(kl);
    if (typeof this.#entropy !== 'number' && entropy !== null) this.#entropy.restore(entropy);
  }
}
