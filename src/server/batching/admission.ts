import { ApiError } from '../http/api-error.ts';

/** Weight of the newest picture in the running mean of what one costs. */
const NEWEST = 0.1;
/** A single time counts as at most so many times the mean: a machine that paused is not a slow one. */
const MOST_TIMES_THE_MEAN = 4;

export interface AdmissionOptions {
  /** Pictures admitted and not answered yet, at most. */
  queue: number;
  /** Time that a request has. Work that cannot be done within it is refused at once instead of late. */
  requestTimeoutMs: number;
}

/**
 * Decides at the door. What is let in is answered in time; the others learn at once when to come again, which
 * costs them and the server less than a wait that ends in a timeout.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #now: () => number;
  #admitted = 0;
  #msPerPicture = 0;
  #lastDone = 0;

  constructor(options: AdmissionOptions, now: () => number = () => performance.now()) {
    this.#options = options;
    this.#now = now;
  }

  get admitted(): number {
    return this.#admitted;
  }

  /**
   * Takes places for the pictures of a request. OVERLOADED with a Retry-After when there is no room.
   *
   * @returns gives the places back; `done` tells whether the pictures were carried out
   */
  enter(pictures: number): (outcome: { done: boolean }) => void {
    const { queue, requestTimeoutMs } = this.#options;
    const after = this.#admitted + pictures;
    const fits = after <= queue || (this.#admitted === 0 && pictures <= queue);
    const inTime = this.#admitted === 0 || after * this.#msPerPicture < 0.8 * requestTimeoutMs;
    if (!fits || !inTime) throw this.#refusal();
    if (this.#admitted === 0) this.#lastDone = this.#now();
    this.#admitted = after;
    let left = false;
    return ({ done }) => {
      if (left) return;
      left = true;
      this.#admitted -= pictures;
      if (done) this.#measure(pictures);
    };
  }

  #refusal(): ApiError {
    const wait = (this.#admitted / 2) * this.#msPerPicture;
    return new ApiError('OVERLOADED', `the server is busy with ${this.#admitted} pictures`, {
      hint: 'wait as long as Retry-After says, and send fewer at a time',
      retryAfter: Math.min(60, Math.max(1, Math.ceil(wait / 1000))),
    });
  }

  /** Time between answers while there is work, which is what a place in the queue costs. */
  #measure(pictures: number): void {
    const now = this.#now();
    const each = (now - this.#lastDone) / pictures;
    this.#lastDone = now;
    const mean = this.#msPerPicture;
    const counted = Math.min(each, Math.max(1, MOST_TIMES_THE_MEAN * mean));
    this.#msPerPicture = mean === 0 ? each : mean * (1 - NEWEST) + counted * NEWEST;
  }
}
