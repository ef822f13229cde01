import { setTimeout } from 'node:timers/promises';
import { median } from '../bench/measure.ts';

export interface Measured {
  milliseconds: number;
  /** Processor time of all threads: what a busy machine distorts less. */
  processorMilliseconds: number;
  values: number[];
}

export interface Contestant {
  name: string;
  run: () => Promise<Measured>;
}

export interface Result {
  name: string;
  rounds: Measured[];
  /** Medians over the rounds. */
  milliseconds: number;
  processorMilliseconds: number;
  /** Median over the rounds of this contestant's time by the first one's; 1 for the first. */
  timesAsLong: number;
  processorTimesAsLong: number;
}

const PAUSE_MS = 200;

/** Rounds in turn, A B A B, after one warm-up of each, so that a slow minute of the machine hits all alike. */
export async function interleave(contestants: readonly Contestant[], rounds: number): Promise<Result[]> {
  const measured = contestants.map((): Measured[] => []);
  for (let round = -1; round < rounds; round++) {
    for (const [i, { run }] of contestants.entries()) {
      await setTimeout(PAUSE_MS);
      const result = await run();
      if (round >= 0) measured[i]!.push(result);
    }
  }
  const base = measured[0]!;
  return contestants.map(({ name }, i) => {
    const own = measured[i]!;
    const ratio = (time: (m: Measured) => number) => median(own.map((m, r) => time(m) / time(base[r]!)));
    return {
      name,
      rounds: own,
      milliseconds: median(own.map((m) => m.milliseconds)),
      processorMilliseconds: median(own.map((m) => m.processorMilliseconds)),
      timesAsLong: ratio((m) => m.milliseconds),
      processorTimesAsLong: ratio((m) => m.processorMilliseconds),
    };
  });
}

export function measureHere(work: () => number[]): Measured {
  const used = process.cpuUsage();
  const begin = performance.now();
  const values = work();
  const milliseconds = performance.now() - begin;
  const { user, system } = process.cpuUsage(used);
  return { milliseconds, processorMilliseconds: (user + system) / 1000, values };
}
