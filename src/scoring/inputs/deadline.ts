/** A signal that aborts when the caller's does or when the time is up. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** The time is up; false where the caller gave up first. */
  readonly expired: boolean;
  /** Must be called in the end: lets go of the timer and of the caller's signal. */
  clear(): void;
}

export function deadlineOf(caller: AbortSignal | undefined, timeoutMs: number): Deadline {
  const controller = new AbortController();
  let expired = false;
  const stop = (): void => controller.abort(caller?.reason);
  const timer = setTimeout(() => {
    expired = true;
    controller.abort(new Error(`nothing for ${timeoutMs} ms`));
  }, timeoutMs);
  if (caller?.aborted) stop();
  else caller?.addEventListener('abort', stop, { once: true });
  return {
    signal: controller.signal,
    get expired() {
      return expired && !(caller?.aborted ?? false);
    },
    clear() {
      clearTimeout(timer);
      caller?.removeEventListener('abort', stop);
    },
  };
}

/** The promise's outcome, or the signal's reason if that comes first. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
