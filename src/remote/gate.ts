import { SlidingWindow } from './sliding-window.ts';

export interface GateLimits {
  concurrency: number;
  requestsPerMinute?: number | undefined;
  tokensPerMinute?: number | undefined;
}

/** Leave to send one request. */
export interface Pass {
  /** Gives the place back, once. With the tokens it really used, where known. */
  leave(tokens?: number): void;
  /** The server was overloaded: fewer at once from now on, and none at all for so many milliseconds. */
  slowDown(pauseMs: number): void;
  /** The server kept up. */
  speedUp(): void;
}

/** What else decides about the first in the queue. */
export interface Admission {
  /** An Error refuses it; 'wait' asks again when a request in flight has ended. */
  verdict(): 'yes' | 'wait' | Error;
  /** It is let in, before the next one is decided about. */
  begin(): void;
}

interface Waiting {
  tokens: number;
  admission: Admission;
  enter(pass: Pass): void;
  refuse(error: unknown): void;
}

/**
 * A queue in front of a server: so many requests in flight, so many requests and tokens in any minute, pauses
 * that the server asks for. The number in flight follows the server as in congestion control (additive increase,
 * multiplicative decrease): halved when it is overloaded, raised by one for each full round that goes well.
 */
export class Gate {
  private readonly most: number;
  private readonly requests: SlidingWindow | undefined;
  private readonly tokens: SlidingWindow | undefined;
  private readonly queue: Waiting[] = [];
  private allowed: number;
  private active = 0;
  private pausedUntil = 0;
  private lastCut = Number.NEGATIVE_INFINITY;
  private timer: NodeJS.Timeout | undefined;

  constructor({ concurrency, requestsPerMinute, tokensPerMinute }: GateLimits) {
    this.most = concurrency;
    this.allowed = concurrency;
    this.requests = requestsPerMinute === undefined ? undefined : new SlidingWindow(requestsPerMinute);
    this.tokens = tokensPerMinute === undefined ? undefined : new SlidingWindow(tokensPerMinute);
  }

  /** Requests in flight that are allowed at present. */
  get concurrency(): number {
    return Math.max(1, Math.floor(this.allowed));
  }

  /** Waits for a place. `first` goes before all others: a request that is tried again. */
  enter(tokens: number, admission: Admission, first: boolean): Promise<Pass> {
    return new Promise((enter, refuse) => {
      const waiting = { tokens, admission, enter, refuse };
      if (first) this.queue.unshift(waiting);
      else this.queue.push(waiting);
      this.advance();
    });
  }

  /** Everyone who waits gets this error. */
  refuseAll(error: unknown): void {
    clearTimeout(this.timer);
    for (const { refuse } of this.queue.splice(0)) refuse(error);
  }

  private advance(): void {
    clearTimeout(this.timer);
    while (this.queue.length > 0 && this.active < this.concurrency) {
      const head = this.queue[0] as Waiting;
      const verdict = head.admission.verdict();
      if (verdict instanceof Error) {
        this.queue.shift();
        head.refuse(verdict);
        continue;
      }
      const now = performance.now();
      const delay = Math.max(
        this.pausedUntil - now,
        this.requests?.waitFor(1, now) ?? 0,
        this.tokens?.waitFor(head.tokens, now) ?? 0,
      );
      if (delay > 0) {
        this.timer = setTimeout(() => this.advance(), Math.ceil(delay));
        return;
      }
      // Whoever is in flight calls this again by leaving.
      if (verdict === 'wait' && this.active > 0) return;
      this.queue.shift();
      head.admission.begin();
      head.enter(this.admit(head.tokens, now));
    }
  }

  private admit(tokens: number, now: number): Pass {
    this.active++;
    this.requests?.take(1, now);
    const correct = this.tokens?.take(tokens, now);
    return {
      leave: (actual) => {
        this.active--;
        if (actual !== undefined) correct?.(actual);
        this.advance();
      },
      slowDown: (pauseMs) => {
        const then = performance.now();
        this.pausedUntil = Math.max(this.pausedUntil, then + pauseMs);
        // What was sent before the last cut tells of the rate before it: one overload is one cut.
        if (now < this.lastCut) return;
        this.lastCut = then;
        this.allowed = Math.max(1, this.concurrency / 2);
      },
      speedUp: () => {
        this.allowed = Math.min(this.most, this.allowed + 1 / this.allowed);
      },
    };
  }
}
