const WINDOW_MS = 60_000;

interface Entry {
  at: number;
  amount: number;
  inside: boolean;
}

/**
 * A limit per minute that holds for every window of 60 s, wherever it begins. Times are milliseconds of one
 * clock that never goes back.
 */
export class SlidingWindow {
  private readonly limit: number;
  private readonly entries: Entry[] = [];
  private sum = 0;

  constructor(perMinute: number) {
    this.limit = perMinute;
  }

  /** Milliseconds until this amount fits; 0 now. An amount above the whole limit fits into an empty window. */
  waitFor(amount: number, now: number): number {
    while (this.entries.length > 0 && (this.entries[0] as Entry).at + WINDOW_MS <= now) {
      const gone = this.entries.shift() as Entry;
      gone.inside = false;
      this.sum -= gone.amount;
    }
    let excess = this.sum + Math.min(amount, this.limit) - this.limit;
    for (const { at, amount: leaving } of this.entries) {
      if (excess <= 0) return 0;
      excess -= leaving;
      if (excess <= 0) return at + WINDOW_MS - now;
    }
    return 0;
  }

  /** Takes an amount now. What comes back corrects it once the true amount is known. */
  take(amount: number, now: number): (actual: number) => void {
    const entry = { at: now, amount, inside: true };
    this.entries.push(entry);
    this.sum += amount;
    return (actual) => {
      // An entry that has left the window took its amount along.
      if (entry.inside) this.sum += actual - entry.amount;
      entry.amount = actual;
    };
  }
}
