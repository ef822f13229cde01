import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '../http/api-error.ts';
import { type TaskOptions, TaskThread } from './task-thread.ts';

/** A thread that could not be opened again is tried after this, twice as long each time. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;

/** A thread that stands in its place until it is closed: one that crashes is followed by another. */
export class StandingThread<Info> {
  /** The first thread is open. Rejects when it cannot be opened; then nothing is tried again. */
  readonly ready: Promise<Info>;
  readonly #start: () => TaskThread<Info>;
  readonly #onCrash: () => void;
  #thread: TaskThread<Info>;
  #open = false;
  #closing = false;
  #waiting: (() => void)[] = [];

  /** @param onCrash told of every thread that ended unasked */
  constructor(entry: URL, workerData: unknown, onCrash: () => void = () => undefined) {
    this.#start = () => new TaskThread<Info>(entry, workerData);
    this.#onCrash = onCrash;
    this.#thread = this.#start();
    this.ready = this.#thread.ready.then((info) => {
      this.#opened();
      void this.#watch();
      return info;
    });
  }

  /** Whether a thread is open. */
  get isOpen(): boolean {
    return this.#open;
  }

  /** Waits for an open thread, then runs the task in it. */
  async run<Value>(task: unknown, options: TaskOptions = {}): Promise<Value> {
    while (!this.#open) {
      if (this.#closing) throw new ApiError('UNAVAILABLE', 'the server is stopping', { retryAfter: 5 });
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
      options.signal?.throwIfAborted();
    }
    return this.#thread.run<Value>(task, options);
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.#open = false;
    this.#wake();
    await this.#thread.close();
  }

  #opened(): void {
    this.#open = true;
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async #watch(): Promise<void> {
    for (let pause = FIRST_PAUSE_MS; ; ) {
      const { crashed } = await this.#thread.ended;
      if (!crashed || this.#closing) return;
      this.#open = false;
      this.#onCrash();
      await delay(pause);
      if (this.#closing) return;
      this.#thread = this.#start();
      try {
        await this.#thread.ready;
        pause = FIRST_PAUSE_MS;
        this.#opened();
      } catch {
        // The thread has told its reason to nobody who could mend it; the next one may find the folder whole.
        pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
      }
    }
  }
}
