import { ConfigError } from '../../core/index.ts';

export interface AdaptiveEntropyOptions {
  /** Entropy below which the bonus acts, nats per token. */
  target: number;
  start: number;
  /** Added or subtracted after every optimizer step. */
  step: number;
  minimum: number;
  maximum: number;
}

/**
 * An entropy coefficient that rises by a step while the entropy is at or below the target and falls while it is
 * above, where it also does not act. Skywork-OR1 (arXiv 2505.22312), adaptive entropy control.
 */
export class AdaptiveEntropyCoefficient {
  readonly #options: AdaptiveEntropyOptions;
  #coefficient: number;
  #below = true;

  constructor(options: AdaptiveEntropyOptions) {
    const { start, minimum, maximum } = options;
    if (!(minimum <= start && start <= maximum)) {
      throw new ConfigError(
        `adaptive entropy: start is ${start}, allowed is [minimum, maximum] = [${minimum}, ${maximum}]`,
      );
    }
    this.#options = options;
    this.#coefficient = start;
  }

  /** What to multiply the entropy by in the next step: 0 while it was above the target. */
  get value(): number {
    return this.#below ? this.#coefficient : 0;
  }

  /** @param entropy mean over the tokens of the optimizer batch */
  observe(entropy: number): void {
    if (!Number.isFinite(entropy)) throw new RangeError(`adaptive entropy: measured entropy is ${entropy}`);
    const { target, step, minimum, maximum } = this.#options;
    this.#below = entropy <= target;
    const moved = this.#coefficient + (this.#below ? step : -step);
    this.#coefficient = Math.max(minimum, Math.min(maximum, moved));
  }

  state(): { coefficient: number; below: boolean } {
    return { coefficient: this.#coefficient, below: this.#below };
  }

  restore({ coefficient, below }: { coefficient: number; below: boolean }): void {
    this.#coefficient = coefficient;
    this.#below = below;
  }
}
