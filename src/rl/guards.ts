import { ConfigError, TrainingError } from '../core/index.ts';

export interface NonFiniteGuardState {
  skipped: number;
  consecutive: number;
}

/** Counts optimizer steps that were skipped for a non-finite loss or gradient; too many in a row stop the run. */
export class NonFiniteGuard {
  readonly #limit: number;
  #skipped = 0;
  #consecutive = 0;

  /** @param limit skipped steps in a row that stop the run, >= 1 */
  constructor(limit: number) {
    if (!Number.isInteger(limit) || limit < 1) {
      throw new ConfigError(`limit of non-finite steps in a row is ${limit}, allowed is an integer >= 1`);
    }
    this.#limit = limit;
  }

  /** Skipped steps of the whole run. */
  get skipped(): number {
    return this.#skipped;
  }

  /** @param applied whether the step was applied */
  observe(applied: boolean, step: number): void {
    if (applied) {
      this.#consecutive = 0;
      return;
    }
    this.#skipped++;
    this.#consecutive++;
    if (this.#consecutive >= this.#limit) {
      throw new TrainingError(
        `loss or gradient was not finite in ${this.#consecutive} steps in a row, the last at step ${step}`,
        { hint: 'lower the learning rate or the gradient-norm limit, and resume from the last checkpoint' },
      );
    }
  }

  state(): NonFiniteGuardState {
    return { skipped: this.#skipped, consecutive: this.#consecutive };
  }

  restore(state: NonFiniteGuardState): void {
    this.#skipped = state.skipped;
    this.#consecutive = state.consecutive;
  }
}

export interface RewardFailureGuardState {
  recent: { missing: number; total: number }[];
}

/** Stops the run when too large a share of the recent rewards is missing. */
export class RewardFailureGuard {
  readonly #limit: number;
  readonly #window: number;
  #recent: { missing: number; total: number }[] = [];

  /**
   * @param limit largest share of missing rewards that is borne, in [0, 1)
   * @param window batches that the share is taken over, >= 1
   */
  constructor({ limit, window = 1 }: { limit: number; window?: number }) {
    if (!(limit >= 0 && limit < 1)) {
      throw new ConfigError(`limit of missing rewards is ${limit}, allowed is [0, 1)`);
    }
    if (!Number.isInteger(window) || window < 1) {
      throw new ConfigError(`window of the reward guard is ${window}, allowed is an integer >= 1`);
    }
    this.#limit = limit;
    this.#window = window;
  }

  /** @param reasons why rewards were missing, for the message */
  observe({ missing, total, reasons = [] }: { missing: number; total: number; reasons?: string[] }): void {
    this.#recent.push({ missing, total });
    if (this.#recent.length > this.#window) this.#recent.shift();
    if (this.rate > this.#limit) {
      const example = reasons.length > 0 ? `, for instance: ${reasons[0]}` : '';
      throw new TrainingError(
        `${(100 * this.rate).toFixed(1)} % of the recent rewards are missing, allowed are ` +
          `${(100 * this.#limit).toFixed(1)} %${example}`,
        { hint: 'mend the reward function, or raise the limit if such failures are expected' },
      );
    }
  }

  /** Share of missing rewards in the window; 0 before the first batch. */
  get rate(): number {
    const total = this.#recent.reduce((sum, batch) => sum + batch.total, 0);
    return total === 0 ? 0 : this.#recent.reduce((sum, batch) => sum + batch.missing, 0) / total;
  }

  state(): RewardFailureGuardState {
    return { recent: this.#recent.map((batch) => ({ ...batch })) };
  }

  restore(state: RewardFailureGuardState): void {
    this.#recent = state.recent.map((batch) => ({ ...batch })).slice(-this.#window);
  }
}

/**
 * On the first minibatch after sampling the weights are the old ones, so the ratio is 1 for every token. If it
 * is not, the log-probabilities belong to other tokens, another temperature or other weights.
 */
export function requireRatioOne(
  ratios: { minimum: number; maximum: number },
  { tolerance, step }: { tolerance: number; step: number },
): void {
  const off = Math.max(Math.abs(ratios.minimum - 1), Math.abs(ratios.maximum - 1));
  if (off <= tolerance) return;
  throw new TrainingError(
    `ratio of current to old probability is ${ratios.minimum} to ${ratios.maximum} on the first minibatch of ` +
      `step ${step}, allowed is 1 within ${tolerance}`,
    { hint: 'old and current log-probabilities must have the same weights, tokens, temperature and padding' },
  );
}
