import { TrainingError } from '../core/index.ts';
import type { WatchdogEvent } from '../rl/index.ts';

/** The event that decides what happens: going back before stopping before warning. */
export function worstOf(events: readonly WatchdogEvent[]): WatchdogEvent | null {
  const order = ['roll-back', 'stop', 'warn'];
  return [...events].sort((a, b) => order.indexOf(a.action) - order.indexOf(b.action))[0] ?? null;
}

/** Where an event sends the run; null if nowhere. TrainingError where it has no place, or has gone back too often. */
export function rollBackTarget(
  event: WatchdogEvent,
  { rollBacks, most }: { rollBacks: number; most: number },
): number | null {
  if (event.action !== 'roll-back') return null;
  const { rollBackTo, step, message } = event;
  if (rollBackTo === undefined || rollBackTo === null) {
    throw new TrainingError(`step ${step}: ${message}`, {
      hint: 'no older checkpoint is left to go back to: save more of them (checkpointEvery, keepCheckpoints)',
    });
  }
  if (rollBacks >= most) {
    throw new TrainingError(`step ${step}, after ${rollBacks} roll-backs: ${message}`, {
      hint: 'going back did not mend it; change the settings, or raise maxRollBacks',
    });
  }
  return rollBackTo;
}

export const stoppedBy = ({ step, message, watchdog }: WatchdogEvent): TrainingError =>
  new TrainingError(`step ${step}: ${message}`, {
    hint: `the checkpoint of this step is kept; the same command goes on from it with --set watchdogs.${watchdog}.action=warn, or another threshold`,
  });
