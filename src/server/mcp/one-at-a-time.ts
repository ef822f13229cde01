/** Runs tasks one after the other, in order: the engine of this process computes one at a time anyway. */
export function oneAtATime(): <T>(task: () => Promise<T>, signal: AbortSignal) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (task, signal) => {
    const turn = last.then(() => {
      signal.throwIfAborted();
      return task();
    });
    // The next one comes whatever became of this one.
    last = turn.catch(() => undefined);
    return turn;
  };
}
