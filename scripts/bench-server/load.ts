/** Requests at a rate or in a number of lanes, and what became of them. */
export interface LoadReport {
  sent: number;
  seconds: number;
  /** Answered with 200, per second. */
  rate: number;
  statuses: Record<string, number>;
  p50: number;
  p99: number;
}

export type Send = () => Promise<number>;

const percentile = (sorted: readonly number[], share: number): number =>
  sorted.length === 0 ? Number.NaN : sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;

export function summarize(times: number[], statuses: Record<string, number>, seconds: number): LoadReport {
  const sorted = times.toSorted((a, b) => a - b);
  return {
    sent: Object.values(statuses).reduce((sum, count) => sum + count, 0),
    seconds,
    rate: (statuses['200'] ?? 0) / seconds,
    statuses,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
  };
}

class Outcomes {
  readonly times: number[] = [];
  readonly statuses: Record<string, number> = {};

  async one(send: Send): Promise<void> {
    const startedAt = performance.now();
    const status = await send().catch(() => 'broken');
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
    if (status === 200) this.times.push(performance.now() - startedAt);
  }
}

/** Closed loop: each lane sends its next request when the last one is answered. */
export async function inLanes(send: Send, lanes: number, seconds: number): Promise<LoadReport> {
  const record = new Outcomes();
  const startedAt = performance.now();
  const over = (): boolean => performance.now() - startedAt > seconds * 1000;
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (!over()) await record.one(send);
    }),
  );
  return summarize(record.times, record.statuses, (performance.now() - startedAt) / 1000);
}

/** Open loop: requests come at the rate whether or not the earlier ones are answered, as clients do. */
export async function atRate(send: Send, perSecond: number, seconds: number): Promise<LoadReport> {
  const record = new Outcomes();
  const startedAt = performance.now();
  const running: Promise<void>[] = [];
  for (let k = 0; k < perSecond * seconds; k++) {
    const due = startedAt + (k / perSecond) * 1000;
    const wait = due - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    running.push(record.one(send));
  }
  await Promise.all(running);
  return summarize(record.times, record.statuses, (performance.now() - startedAt) / 1000);
}
