import { setTimeout } from 'node:timers/promises';
import type { EngineProcess } from './engine-process.ts';
import type { Task } from './protocol.ts';

/** An engine's part in a case. */
export interface Contestant {
  engine: EngineProcess;
  /** Repeats before the first round, not counted. */
  warmUp: number;
  rounds: number;
  /** Repeats in each round; the round's value is their median. */
  repeats: number;
}

export interface Result {
  engine: string;
  /** Milliseconds of each round. */
  rounds: number[];
  /** Median of the rounds. */
  milliseconds: number;
  /** Processor time of all threads, median over all repeats. */
  processorMilliseconds: number;
  evidence: number[];
}

export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('the median of no values');
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Some libraries let idle threads spin for a while after their work; the next engine waits for them. */
const PAUSE_MS = 400;

/** Runs the rounds of all engines in turn, A B C A B C, so that a slow minute of the machine hits all alike. */
export async function interleave(task: Task, contestants: readonly Contestant[]): Promise<Result[]> {
  const results: Result[] = contestants.map(({ engine }) => ({
    engine: engine.name,
    rounds: [],
    milliseconds: Number.NaN,
    processorMilliseconds: Number.NaN,
    evidence: [],
  }));
  for (const [i, { engine, warmUp }] of contestants.entries()) {
    if (warmUp === 0) continue;
    const { evidence } = await engine.ask({ task, repeats: warmUp });
    results[i]!.evidence.push(...evidence);
  }
  const processor: number[][] = contestants.map(() => []);
  const most = Math.max(...contestants.map(({ rounds }) => rounds));
  for (let round = 0; round < most; round++) {
    for (const [i, { engine, rounds, repeats }] of contestants.entries()) {
      if (round >= rounds) continue;
      await setTimeout(PAUSE_MS);
      const { milliseconds, processorMilliseconds, evidence } = await engine.ask({ task, repeats });
      processor[i]!.push(...processorMilliseconds);
      results[i]!.rounds.push(median(milliseconds));
      results[i]!.evidence.push(...evidence);
    }
  }
  results.forEach((result, i) => {
    result.milliseconds = median(result.rounds);
    result.processorMilliseconds = median(processor[i]!);
  });
  return results;
}

/** How many times as long `other` takes, as the median over the rounds that both have. */
export function timesAsLong(other: Result, base: Result): number {
  const shared = Math.min(other.rounds.length, base.rounds.length);
  return median(Array.from({ length: shared }, (_, i) => other.rounds[i]! / base.rounds[i]!));
}
