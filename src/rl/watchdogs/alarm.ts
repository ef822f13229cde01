import type { AlarmState } from './state.ts';

/** Counts bad steps in a row. It goes off once when there are enough of them, and again only after a good one. */
export class Alarm {
  readonly #patience: number;
  #bad = 0;
  #firstBadStep: number | null = null;
  #barked = false;

  /** @param patience bad steps in a row, >= 1 */
  constructor(patience: number) {
    this.#patience = patience;
  }

  /** Step of the first of the bad ones in a row; null after a good one. */
  get firstBadStep(): number | null {
    return this.#firstBadStep;
  }

  /** Whether this step sets it off. */
  observe(bad: boolean, step: number): boolean {
    if (!bad) {
      this.restore({ bad: 0, firstBadStep: null, barked: false });
      return false;
    }
    this.#bad++;
    this.#firstBadStep ??= step;
    if (this.#barked || this.#bad < this.#patience) return false;
    this.#barked = true;
    return true;
  }

  state(): AlarmState {
    return { bad: this.#bad, firstBadStep: this.#firstBadStep, barked: this.#barked };
  }

  restore({ bad, firstBadStep, barked }: AlarmState): void {
    this.#bad = bad;
    this.#firstBadStep = firstBadStep;
    this.#barked = barked;
  }
}
