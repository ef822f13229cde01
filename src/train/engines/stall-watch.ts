import { Failure } from '../../remote/index.ts';

const MOST_MISSES = 2;

/**
 * Tells a server that is busy from one that is gone: while requests are open, it is asked whether it lives. One that
 * does not say so twice in a row has stalled, and its open requests are ended, to be tried again. An answer of several
 * minutes is fine as long as it lives.
 */
export class StallWatch {
  readonly #everyMs: number;
  readonly #ask: (signal: AbortSignal) => Promise<void>;
  readonly #open = new Set<AbortController>();
  #timer: NodeJS.Timeout | undefined;
  #misses = 0;

  /** @param ask resolves when the server answers; it is given so long as the time between two questions */
  constructor(everyMs: number, ask: (signal: AbortSignal) => Promise<void>) {
    this.#everyMs = everyMs;
    this.#ask = ask;
  }

  /** Watches over a request until the function that comes back is called. */
  add(request: AbortController): () => void {
    this.#open.add(request);
    if (this.#timer === undefined) this.#schedule();
    return () => {
      this.#open.delete(request);
      if (this.#open.size > 0) return;
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#misses = 0;
    };
  }

  #schedule(): void {
    this.#timer = setTimeout(() => void this.#look(), this.#everyMs);
  }

  async #look(): Promise<void> {
    const asked = [...this.#open];
    const lives = await this.#ask(AbortSignal.timeout(this.#everyMs)).then(
      () => true,
      () => false,
    );
    this.#misses = lives ? 0 : this.#misses + 1;
    if (this.#misses >= MOST_MISSES) {
      this.#misses = 0;
      const failure = new Failure(
        'timeout',
        `the server has stalled: /health gave no answer in ${this.#everyMs} ms, twice`,
        {
          retryable: true,
          hint: 'look at its log and start it again; the adapter is loaded anew by itself',
        },
      );
      // Not those that came while it was asked: they may go to a server that is up again.
      for (const request of asked) if (this.#open.has(request)) request.abort(failure);
    }
    if (this.#open.size > 0) this.#schedule();
    else this.#timer = undefined;
  }
}
