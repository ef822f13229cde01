export interface BatcherOptions<Item, Result> {
  /** Most items of one batch. */
  maxItems: number;
  /** How long an item may wait for others, in milliseconds. */
  windowMs: number;
  /** Batches that run at the same time. */
  slots: number;
  /** Items go together only when their keys are equal: the same graph and the same settings. */
  keyOf(item: Item): string;
  /** Results in the order of the items; an Error stands for an item of its own failure. */
  run(items: Item[], signal: AbortSignal): Promise<(Result | Error)[]>;
}

interface Waiting<Item, Result> {
  item: Item;
  key: string;
  since: number;
  signal: AbortSignal;
  onAbort: () => void;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** The largest power of two up to `count`: few sizes, so that compiled graphs are used again. */
const roundedDown = (count: number): number => 2 ** Math.floor(Math.log2(count));

/**
 * Dynamic batching with a latency bound. A free slot takes the oldest item and those of its key behind it, as soon
 * as the batch is full or the oldest has waited for the window; under load batches fill up while others run, and
 * nobody waits for the clock. An item whose signal aborts leaves the queue; a batch that nobody waits for is told.
 */
export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>;
  readonly #queue: Waiting<Item, Result>[] = [];
  #running = 0;
  #timer: NodeJS.Timeout | undefined;
  #idle: (() => void)[] = [];

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options;
  }

  /** Items that no batch has taken yet. */
  get waiting(): number {
    return this.#queue.length;
  }

  add(item: Item, signal: AbortSignal): Promise<Result> {
    if (signal.aborted) return Promise.reject(signal.reason);
    return new Promise<Result>((resolve, reject) => {
      const entry: Waiting<Item, Result> = {
        item,
        key: this.#options.keyOf(item),
        since: performance.now(),
        signal,
        onAbort: () => {
          const at = this.#queue.indexOf(entry);
          if (at >= 0) this.#queue.splice(at, 1);
          reject(signal.reason);
          this.#announceIdle();
        },
        resolve,
        reject,
      };
      signal.addEventListener('abort', entry.onAbort, { once: true });
      this.#queue.push(entry);
      this.#dispatch();
    });
  }

  /** Resolves when nothing waits and nothing runs. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#idle.push(resolve);
      this.#announceIdle();
    });
  }

  #dispatch(): void {
    clearTimeout(this.#timer);
    const { slots, maxItems, windowMs } = this.#options;
    while (this.#running < slots && this.#queue.length > 0) {
      const [oldest] = this.#queue as [Waiting<Item, Result>];
      const alike = this.#queue.filter(({ key }) => key === oldest.key).slice(0, maxItems);
      const left = oldest.since + windowMs - performance.now();
      if (alike.length < maxItems && left > 0) {
        this.#timer = setTimeout(() => this.#dispatch(), left);
        return;
      }
      const taken = new Set(alike.slice(0, roundedDown(alike.length)));
      this.#queue.splice(0, this.#queue.length, ...this.#queue.filter((entry) => !taken.has(entry)));
      void this.#carryOut([...taken]);
    }
  }

  async #carryOut(batch: Waiting<Item, Result>[]): Promise<void> {
    this.#running++;
    const controller = new AbortController();
    let listeners = batch.length;
    const leave = (): void => {
      if (--listeners === 0) controller.abort();
    };
    for (const { signal } of batch) signal.addEventListener('abort', leave, { once: true });
    try {
      const results = await this.#options.run(
        batch.map(({ item }) => item),
        controller.signal,
      );
      batch.forEach(({ resolve, reject }, i) => {
        const result = results[i]!;
        if (result instanceof Error) reject(result);
        else resolve(result);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      for (const { signal, onAbort } of batch) {
        signal.removeEventListener('abort', onAbort);
        signal.removeEventListener('abort', leave);
      }
      this.#running--;
      this.#dispatch();
      this.#announceIdle();
    }
  }

  #announceIdle(): void {
    if (this.#running > 0 || this.#queue.length > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}
