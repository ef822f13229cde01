import { ConfigError } from '../../core/index.ts';

/**
 * A KL coefficient that steers towards a target, beta <- beta (1 + clip(KL / target - 1, -0.2, 0.2) n / horizon)
 * after n samples. Ziegler et al. (arXiv 1909.08593), section 2.2.
 */
export class AdaptiveKlCoefficient {
  readonly #target: number;
  readonly #horizon: number;
  #value: number;

  constructor({ start, target, horizon }: { start: number; target: number; horizon: number }) {
    for (const [name, value] of Object.entries({ start, target, horizon })) {
      if (!(value > 0)) throw new ConfigError(`adaptive KL: ${name} is ${value}, allowed is > 0`);
    }
    this.#value = start;
    this.#target = target;
    this.#horizon = horizon;
  }

  get value(): number {
    return this.#value;
  }

  /**
   * @param kl measured mean KL; a value that is not finite is an error of the caller
   * @param samples since the last call
   */
  observe(kl: number, samples: number): void {
    if (!Number.isFinite(kl)) throw new RangeError(`adaptive KL: measured KL is ${kl}`);
    const error = Math.max(-0.2, Math.min(0.2, kl / this.#target - 1));
    this.#value *= 1 + (error * samples) / this.#horizon;
  }

  state(): { value: number } {
    return { value: this.#value };
  }

  restore({ value }: { value: number }): void {
    this.#value = value;
  }
}
