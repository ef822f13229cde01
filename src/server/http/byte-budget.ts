import { ApiError } from './api-error.ts';

/** The bytes of all request bodies held at once: many clients within their limits can still be too many. */
export class ByteBudget {
  readonly #limit: number;
  #held = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get held(): number {
    return this.#held;
  }

  /** OVERLOADED where they do not fit. The caller gives them back with `release`. */
  take(bytes: number): void {
    if (this.#held + bytes > this.#limit) {
      throw new ApiError('OVERLOADED', 'the server holds as many bytes of requests as it may', {
        hint: 'wait as long as Retry-After says',
        retryAfter: 1,
      });
    }
    this.#held += bytes;
  }

  release(bytes: number): void {
    this.#held -= bytes;
  }
}
