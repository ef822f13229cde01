import { InterruptedError } from '../core/index.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * npm passes a terminal's Ctrl-C on to a child that has had it already: what comes this soon after the first
 * is the same key press.
 */
const SAME_PRESS_MS = 500;

/** What the user is told to expect of a stage that is stopped. */
const ENDINGS = {
  saves: { note: 'finishing the current step and saving', hint: 'the same command continues' },
  loses: {
    note: 'finishing the current step',
    hint: 'this command keeps no state: given again, it starts from the beginning',
  },
} as const;

/**
 * A signal that aborts with an InterruptedError on the first Ctrl-C or SIGTERM. The next one ends the process
 * at once: by the system's own default action, since native code may be keeping the event loop busy.
 *
 * @param options.continues whether the stage saves its state, so that the same command continues
 */
export function listenForInterrupt(
  note: (line: string) => void,
  { continues }: { continues: boolean },
): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController();
  const ending = continues ? ENDINGS.saves : ENDINGS.loses;
  const stop = (): void => {
    for (const name of SIGNALS) process.off(name, onSignal);
  };
  const onSignal = (name: NodeJS.Signals): void => {
    note(`${name}: ${ending.note}; press Ctrl-C again to stop at once`);
    // Waiting here, before the listeners go, swallows the repetition. A timer would not do: it needs an event
    // loop that turns, and until it fired a second Ctrl-C would do nothing during a long native call.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SAME_PRESS_MS);
    stop();
    controller.abort(new InterruptedError(`stopped by ${name}`, { hint: ending.hint }));
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  return { signal: controller.signal, stop };
}
