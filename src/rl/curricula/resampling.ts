import { z } from 'zod';
import type { RewardValue } from '../../core/index.ts';
import { usable } from '../advantages/compared-groups.ts';
import { allEqual } from '../advantages/statistics.ts';
import { unionOfKinds } from '../kinds.ts';

export const resamplingConfigSchema = unionOfKinds([
  z.strictObject({ kind: z.literal('off') }),
  z.strictObject({
    kind: z.literal('dynamic'),
    maxRounds: z
      .int()
      .positive()
      .default(10)
      .describe('rounds of sampling per step, the first included (DAPO’s script 10)'),
    draw: z
      .enum(['batch', 'missing'])
      .default('batch')
      .describe('prompts of a further round: a whole batch, as DAPO does, or as many as are missing'),
    oversample: z
      .number()
      .min(1)
      .default(1)
      .describe('each round draws this many times its prompts (DAPO’s script 3)'),
  }),
]);
export type ResamplingConfig = z.infer<typeof resamplingConfigSchema>;

/** A prompt's completions of this step, rewarded. */
export interface SampledGroup {
  id: string;
  rewards: readonly RewardValue[];
}

export interface ResamplingDecision {
  /** Ids of the groups to train on, in the order they were sampled. */
  kept: string[];
  /** Prompts to sample next; 0 when the batch is decided. */
  draw: number;
  /** The bound of rounds was reached before the batch was full: train on `kept`, and where it is empty skip the step. */
  exhausted: boolean;
  counts: {
    rounds: number;
    sampled: number;
    kept: number;
    /** Left out for equal rewards. */
    zeroVariance: number;
    /** Left out for fewer than two usable rewards. */
    unusable: number;
    /** Left out because the batch was full. */
    surplus: number;
    /** Groups that the batch lacks. */
    missing: number;
  };
}

/** Whether a group has at least two usable rewards that differ. Asked exactly, on the rewards themselves. */
export function groupVerdict(rewards: readonly RewardValue[]): 'informative' | 'zero-variance' | 'unusable' {
  const values = rewards.map(usable).filter((value) => value !== null);
  if (values.length < 2) return 'unusable';
  return allEqual(values) ? 'zero-variance' : 'informative';
}

/**
 * Dynamic sampling: which groups a step trains on, and how many prompts to sample before it does. DAPO (arXiv
 * 2503.14476), section 3.2, equation 11: sample until the batch is full of groups with
 * 0 < |{i : answer i is correct}| < G, here of rewards that differ, the same for 0/1 rewards. Unlike there the
 * number of rounds is bounded, and what was found by then is trained on and counted.
 *
 * Asked before the first round (0 rounds, no groups), it says how many prompts that has. `off` samples once and
 * keeps all groups.
 *
 * @param wanted groups per batch
 * @param rounds rounds of sampling done in this step
 * @param groups all groups of this step so far, in order; an id twice is a RangeError, since the two would be
 * compared with each other
 */
export function decideResampling(
  config: ResamplingConfig,
  { wanted, rounds, groups }: { wanted: number; rounds: number; groups: readonly SampledGroup[] },
): ResamplingDecision {
  if (!Number.isInteger(wanted) || wanted < 1) {
    throw new RangeError(`resampling: ${wanted} groups wanted, allowed is an integer >= 1`);
  }
  requireDistinct(groups);
  const verdicts = groups.map(({ rewards }) => groupVerdict(rewards));
  const found = groups.filter((_, i) => config.kind === 'off' || verdicts[i] === 'informative');
  const kept = found.slice(0, wanted).map(({ id }) => id);
  const missing = wanted - kept.length;
  const bound = config.kind === 'off' ? 1 : config.maxRounds;
  const exhausted = missing > 0 && rounds >= bound;
  const dropped = (verdict: string) =>
    config.kind === 'off' ? 0 : verdicts.filter((own) => own === verdict).length;
  return {
    kept,
    draw: missing === 0 || exhausted ? 0 : promptsOfRound(config, wanted, missing),
    exhausted,
    counts: {
      rounds,
      sampled: groups.length,
      kept: kept.length,
      zeroVariance: dropped('zero-variance'),
      unusable: dropped('unusable'),
      surplus: found.length - kept.length,
      missing,
    },
  };
}

function promptsOfRound(config: ResamplingConfig, wanted: number, missing: number): number {
  if (config.kind === 'off') return wanted;
  return Math.ceil((config.draw === 'batch' ? wanted : missing) * config.oversample);
}

function requireDistinct(groups: readonly SampledGroup[]): void {
  const seen = new Set<string>();
  for (const { id } of groups) {
    if (seen.has(id)) throw new RangeError(`resampling: group ${id} was sampled twice in one step`);
    seen.add(id);
  }
}
