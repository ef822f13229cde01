import { setTimeout as sleep } from 'node:timers/promises';
import type { RewardValue } from '../../core/index.ts';
import { backOff } from '../../remote/index.ts';
import { type Caller, CallFailure, type CallValue } from './call.ts';
import type { RewardTermConfig } from './config.ts';
import type { RewardSample, RewardTermCounts } from './types.ts';

const FIRST_DELAY_MS = 250;
/** So many calls in a row without an answer are taken for a term that is gone, until the next step. */
const MOST_STALLED_IN_A_ROW = 3;

export interface RunningTerm {
  config: RewardTermConfig;
  caller: Caller;
  counts: RewardTermCounts;
}

export const noCounts = (): RewardTermCounts => ({
  samples: 0,
  missing: 0,
  timeouts: 0,
  errors: 0,
  retries: 0,
  invalid: 0,
  outOfRange: 0,
  skipped: 0,
});

/** A defect of one term is no reason to end a run of days: it is counted and named like every other failure. */
const unexpected = (error: unknown): CallFailure =>
  new CallFailure(error instanceof Error ? `${error.name}: ${error.message}` : String(error), {
    retryable: false,
  });

/** Settles as the promise does, or rejects with the signal's reason at once. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (stop !== undefined) signal.removeEventListener('abort', stop);
  }
}

/**
 * Scores all samples of a step by one term: in batches, so many at a time, each tried again as configured. Whatever
 * a call does, its samples get a value or a reason.
 *
 * @param quote makes one short line of a message that others wrote, without keys
 */
export async function runTerm(
  { config, caller, counts }: RunningTerm,
  samples: readonly RewardSample[],
  quote: (said: string) => string,
  signal?: AbortSignal,
): Promise<RewardValue[]> {
  const { name, retries, concurrency } = config;
  const [low, high] = config.range;
  const results = new Array<RewardValue>(samples.length);
  let stalledInARow = 0;

  const missing = (problem: string): RewardValue => {
    counts.missing++;
    return { status: 'missing', reason: `${name}: ${problem}` };
  };
  const checked = (value: CallValue): RewardValue => {
    if (typeof value !== 'number' || !Number.isFinite(value)) {
      counts.invalid++;
      return missing(typeof value === 'number' ? `the value is ${value}` : value.problem);
    }
    if (value < low || value > high) {
      counts.outOfRange++;
      return missing(`the value ${value} is outside the range [${low}, ${high}]`);
    }
    return { status: 'ok', value };
  };

  async function persist(batch: readonly RewardSample[]): Promise<readonly CallValue[] | CallFailure> {
    for (let attempt = 0; ; attempt++) {
      try {
        const values = await unlessAborted(caller.call(batch, attempt), signal);
        stalledInARow = 0;
        return values;
      } catch (thrown) {
        signal?.throwIfAborted();
        const error = thrown instanceof CallFailure ? thrown : unexpected(thrown);
        if (error.kind === 'timeout') counts.timeouts++;
        else counts.errors++;
        if (!error.retryable || attempt >= retries) {
          stalledInARow = error.stalled ? stalledInARow + 1 : 0;
          return error;
        }
        counts.retries++;
        // A server's wait beyond the deadline would hold up the step: it is asked again when that has passed.
        const asked = Math.min(error.retryAfterMs ?? 0, 1000 * config.deadlineSeconds);
        await sleep(Math.max(asked, backOff(attempt, FIRST_DELAY_MS)), undefined, signal ? { signal } : {});
      }
    }
  }

  async function scoreBatch(start: number, end: number): Promise<void> {
    const batch = samples.slice(start, end);
    if (stalledInARow >= MOST_STALLED_IN_A_ROW) {
      counts.skipped++;
      const gone = `not asked, the ${MOST_STALLED_IN_A_ROW} calls before got no answer`;
      for (let at = start; at < end; at++) results[at] = missing(gone);
      return;
    }
    const outcome = await persist(batch);
    for (let at = start; at < end; at++) {
      results[at] =
        outcome instanceof CallFailure
          ? missing(quote(outcome.message))
          : checked(outcome[at - start] ?? { problem: 'there is no value' });
    }
  }

  counts.samples += samples.length;
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < samples.length) {
      signal?.throwIfAborted();
      const start = next;
      next = Math.min(samples.length, start + caller.batchSize);
      await scoreBatch(start, next);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return results;
}
