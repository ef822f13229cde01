import type { Grid, LowAction } from './grid.ts';
import { type Mission, type Progress, progressOf, type Verdict } from './mission.ts';

/** A level as it is at the beginning. Not changed by playing. */
export interface Level {
  grid: Grid;
  mission: Mission;
  /** Steps, in MiniGrid's actions, after which the episode is over. */
  mostSteps: number;
}

/** A level being played, in MiniGrid's actions. */
export class Episode {
  readonly level: Level;
  readonly grid: Grid;
  readonly #progress: Progress;
  steps = 0;
  verdict: Verdict | 'timeout' = 'continue';

  constructor(level: Level) {
    this.level = level;
    this.grid = level.grid.clone();
    this.#progress = progressOf(level.mission);
  }

  get over(): boolean {
    return this.verdict !== 'continue';
  }

  /** The clause to do now. */
  get pending() {
    return this.#progress.pending();
  }

  /** 1 - 0.9 steps / most steps after a success (BabyAI, Chevalier-Boisvert et al. 2019), else 0. */
  get reward(): number {
    return this.verdict === 'success' ? 1 - (0.9 * this.steps) / this.level.mostSteps : 0;
  }

  /** A step of time without an action. */
  wait(): void {
    if (++this.steps >= this.level.mostSteps) this.verdict = 'timeout';
  }

  /** Carries out actions until one changes nothing or the episode is over. Whether anything changed. */
  act(actions: readonly LowAction[]): boolean {
    let changed = false;
    for (const action of actions) {
      const carriedBefore = this.grid.carrying;
      const changes = this.grid.act(action);
      this.steps++;
      this.verdict = this.#progress.after({ grid: this.grid, action, carriedBefore });
      if (!this.over && this.steps >= this.level.mostSteps) this.verdict = 'timeout';
      changed ||= changes;
      if (!changes || this.over) break;
    }
    return changed;
  }
}
