import type { WatchdogAction, WatchdogName } from './config.ts';

/** A watchdog's bark: one for each time that the run turns bad, not one for each bad step. */
export interface WatchdogEvent {
  step: number;
  watchdog: WatchdogName;
  action: Exclude<WatchdogAction, 'off'>;
  /** What was measured at this step, in the unit of `threshold`. */
  value: number;
  /** The bound that was crossed. */
  threshold: number;
  /** One sentence: what happened, what is allowed, what to try. */
  message: string;
  /** Names of the series that show it. */
  metrics: string[];
  /** First of the bad steps in a row. */
  firstBadStep: number;
  /**
   * Of `roll-back` alone: step of the newest checkpoint whose weights had not yet been measured as bad, null where
   * there is none.
   */
  rollBackTo?: number | null;
}
