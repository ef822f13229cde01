import { z } from 'zod';
import { ConfigError, type Rng, type TokenRole } from '../../core/index.ts';
import { unionOfKinds } from '../kinds.ts';

/**
 * R3, learning from demonstrations by a reverse curriculum (arXiv 2402.05808, section 3): the policy continues a
 * correct demonstration from a start that slides from its end to its beginning, and is rewarded for the outcome
 * alone. What is given counts as prompt; only what the policy adds is trained. All samples of a group must share
 * their start, or they are not comparable. Formulas are a reconstruction: the paper gives no closed form for the
 * choice of M starts, and its constants here are from memory.
 */

const starts = z
  .int()
  .positive()
  .default(5)
  .describe('M: starts per demonstration, the last of them with nothing given (paper 5 to 6)');
const wrongAnswer = z
  .number()
  .min(0)
  .lt(1)
  .default(0.1)
  .describe('reward of an answer that can be read but is wrong (paper 0.1, its code 0.2)');

export const r3ConfigSchema = unionOfKinds([
  z.strictObject({ kind: z.literal('off') }),
  z
    .strictObject({ kind: z.literal('staged'), starts, wrongAnswer })
    .describe('M stages of equal length, from the easiest start to none'),
  z
    .strictObject({ kind: z.literal('mixed'), starts, wrongAnswer })
    .describe('R3 itself: each demonstration starts anywhere among its M starts, all the time'),
]);
export type R3Config = z.infer<typeof r3ConfigSchema>;

/**
 * A demonstration as the curriculum sees it: its number of tokens, or, where it may be cut only between steps
 * (sentences, turns), the index of each step's first token, ascending from 0. Empty and 0 are no demonstration.
 */
export type DemonstrationSteps = number | readonly number[];

/**
 * The steps of an agent's demonstration: where each turn, a run of action tokens, begins. What was observed before a
 * turn is given with it, so the first step begins at 0; whoever resumes at a start must bring the environment there
 * by replaying the actions before it.
 *
 * @param roles one per token behind the prompt
 */
export function turnSteps(roles: readonly TokenRole[]): number[] {
  const turns = roles.flatMap((role, t) => (role === 'action' && roles[t - 1] !== 'action' ? [t] : []));
  return turns.map((start, turn) => (turn === 0 ? 0 : start));
}

/**
 * Tokens of the demonstration that are given in stage m of M: the first k_m = min(round(T (M - m) / M), T - 1) of
 * its T steps, so that stage M gives nothing and every stage leaves the last step to the policy. With M = T these
 * are all starts, T - 1 to 0. Reconstruction of "M roughly uniform start states", arXiv 2402.05808, section 3.2.
 *
 * @param stage m, 1 (easiest) to M
 */
export function r3StartOfStage(demonstration: DemonstrationSteps, stage: number, starts: number): number {
  requireStarts(starts);
  if (!Number.isInteger(stage) || stage < 1 || stage > starts) {
    throw new RangeError(`R3: stage is ${stage}, allowed are 1 to ${starts}`);
  }
  const count = stepCount(demonstration);
  const steps = Math.min(Math.round((count * (starts - stage)) / starts), Math.max(0, count - 1));
  return typeof demonstration === 'number' ? steps : (demonstration[steps] ?? 0);
}

/**
 * The M starts of a demonstration, easiest first, each once: a demonstration of fewer than M steps has fewer. One
 * without steps has the start 0 alone.
 */
export function r3Starts(demonstration: DemonstrationSteps, starts: number): number[] {
  requireStarts(starts);
  return [...new Set(Array.from({ length: starts }, (_, i) => r3StartOfStage(demonstration, i + 1, starts)))];
}

/**
 * Stage of a step when M stages share the run equally: min(floor(step M / totalSteps), M - 1) + 1. Beyond the end
 * it stays M, the task itself. Staged RL of arXiv 2402.05808, section 3.2; equal shares are ours.
 *
 * @param step from 0
 */
export function r3StageAt(starts: number, step: number, totalSteps: number): number {
  requireStarts(starts);
  if (!(step >= 0)) throw new RangeError(`R3: step is ${step}, allowed is >= 0`);
  if (!(totalSteps >= 1)) throw new ConfigError(`R3: totalSteps is ${totalSteps}, allowed is >= 1`);
  return Math.min(Math.floor((step * starts) / totalSteps), starts - 1) + 1;
}

export interface R3Moment {
  /** From 0. */
  step: number;
  totalSteps: number;
  /** Tells the demonstrations of a step apart. */
  id: string;
  /** Of the run. Only its seed matters: the draw is the same however often and in whatever order it is asked. */
  rng: Rng;
}

/** Tokens of the demonstration that are given at a step, a pure function of configuration, step, id and seed. */
export function r3StartAt(
  config: R3Config,
  demonstration: DemonstrationSteps,
  { step, totalSteps, id, rng }: R3Moment,
): number {
  if (config.kind === 'off') return 0;
  const { kind, starts } = config;
  const stage = r3StageAt(starts, step, totalSteps);
  if (kind === 'staged') return r3StartOfStage(demonstration, stage, starts);
  return rng.fork('r3', step, id).pick(r3Starts(demonstration, starts));
}

/**
 * Outcome reward with partial credit: 1 for a correct answer, epsilon for a wrong one that can be read, 0 where
 * none can. arXiv 2402.05808, section 3.1, as its code has it (reconstruction).
 */
export function r3Reward(outcome: 'correct' | 'wrong' | 'unreadable', epsilon: number): number {
  if (!(epsilon >= 0 && epsilon < 1)) {
    throw new ConfigError(`R3: the reward of a wrong answer is ${epsilon}, allowed is [0, 1)`);
  }
  return { correct: 1, wrong: epsilon, unreadable: 0 }[outcome];
}

function stepCount(demonstration: DemonstrationSteps): number {
  if (typeof demonstration === 'number') {
    if (Number.isInteger(demonstration) && demonstration >= 0) return demonstration;
    throw new RangeError(`R3: the demonstration has ${demonstration} tokens, allowed is an integer >= 0`);
  }
  demonstration.forEach((start, i) => {
    const ascending = i === 0 ? start === 0 : start > (demonstration[i - 1] as number);
    if (!Number.isInteger(start) || !ascending) {
      throw new RangeError(
        `R3: step ${i} of the demonstration starts at ${start}, allowed are ascending integers from 0`,
      );
    }
  });
  return demonstration.length;
}

function requireStarts(starts: number): void {
  if (!Number.isInteger(starts) || starts < 1) {
    throw new ConfigError(`R3: ${starts} starts per demonstration, allowed is an integer >= 1`);
  }
}
