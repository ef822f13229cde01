import { ApiError } from './api-error.ts';

interface Bucket {
  left: number;
  at: number;
}

/** Buckets kept at most; those that are full again are dropped first. */
const MOST_BUCKETS = 10_000;

/** A token bucket for each client: a minute's requests at once, then as they refill. */
export class RateLimit {
  readonly #perMinute: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(perMinute: number, now: () => number = () => performance.now()) {
    this.#perMinute = perMinute;
    this.#now = now;
  }

  /** Counts a request. RATE_LIMITED with a Retry-After beyond the limit. */
  take(client: string): void {
    const now = this.#now();
    const bucket = this.#buckets.get(client) ?? { left: this.#perMinute, at: now };
    bucket.left = Math.min(this.#perMinute, bucket.left + ((now - bucket.at) / 60_000) * this.#perMinute);
    bucket.at = now;
    this.#buckets.delete(client);
    this.#buckets.set(client, bucket);
    if (this.#buckets.size > MOST_BUCKETS) this.#buckets.delete(this.#buckets.keys().next().value as string);
    if (bucket.left < 1) {
      const seconds = ((1 - bucket.left) / this.#perMinute) * 60;
      throw new ApiError('RATE_LIMITED', `more than ${this.#perMinute} requests in a minute`, {
        hint: 'wait as long as Retry-After says',
        retryAfter: Math.ceil(seconds),
      });
    }
    bucket.left -= 1;
  }
}
