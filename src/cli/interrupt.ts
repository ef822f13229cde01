import { InterruptedError } from '../core/index.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * npm passes a terminal's Ctrl-C on to a child that has had it already: what comes this soon after the first
 * is the same key press.
 */
const SAME_PRESS_MS = 500;

/**
 * A signal that aborts with an InterruptedError on the first Ctrl-C or SIGTERM. The next one ends the process
 * at once: by the system's own default action, since native code may be keeping the event loop busy.
 */
export function listenForInterrupt(note: (line: string) => void): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController();
  const stop = (): void => {
    for (const name of SIGNALS) process.off(name, onSignal);
  };
  const onSignal = (name: NodeJS.Signals): void => {
    note(`${name}: finishing the current step and saving; press Ctrl-C again to stop at once`);
    // Waiting here, before the listeners go, swallows the repetition. A timer would not do: it needs an event
    // loop that turns, and until it fired a second Ctrl-C would do nothing during a long native call.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SAME_PRESS_MS);
    stop();
    controller.abort(new InterruptedError(`stopped by ${name}`, { hint: 'the same command continues' }));
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  return { signal: controller.signal, stop };
}
