import type { Rng } from '../core/index.ts';
import {
  type Batch,
  collate,
  collateShared,
  type Sequence,
  type VisionLanguageModel,
} from '../model/index.ts';
import { groupById } from '../rl/index.ts';
import { chunk } from './chunk.ts';

/** What the policy learns from: tokens as they were sampled, and how good each of them was. */
export interface PolicySample {
  /** Prompt, actions and observations by role; actions alone are trained. */
  sequence: Sequence;
  /** [A] log-probability of each action token where it was sampled, at the sampling temperature. */
  logProbabilities: ArrayLike<number>;
  /** [A] advantage of each action token. */
  advantages: ArrayLike<number>;
  /** [A] of each action token, from when the sample was judged: the critic's value, and what it should have been. */
  critic?: { values: ArrayLike<number>; returns: ArrayLike<number> };
  /** Prompt id: the samples that were compared with each other. */
  group: string;
  /** Whether older weights sampled it, at least in part: no ratio is expected to be 1. */
  isStale: boolean;
}

/** Some samples of an optimizer batch, as one forward pass takes them. */
export interface MicroBatch {
  samples: readonly PolicySample[];
  batch: Batch;
  /** Action tokens of each sample. */
  lengths: readonly number[];
  /** [T] one value per action token, in the order of the flat vectors; 0 in the padding. */
  perToken(valuesOf: (sample: PolicySample) => ArrayLike<number>): Float32Array;
}

/**
 * @param sharesPrompts whether the prompt of several samples is run once; blocks that are computed a second time in
 *   the backward pass can't share
 */
export function microBatches(
  samples: readonly PolicySample[],
  size: number,
  { config }: Pick<VisionLanguageModel, 'config'>,
  sharesPrompts = true,
): MicroBatch[] {
  return chunk(samples, size).map((own) => {
    const sequences = own.map(({ sequence }) => sequence);
    const batch = sharesPrompts
      ? collateShared(
          sequences,
          own.map(({ group }) => group),
          config,
        )
      : collate(sequences, config);
    return {
      samples: own,
      batch,
      lengths: own.map(({ logProbabilities }) => logProbabilities.length),
      perToken: (valuesOf) => {
        const result = new Float32Array(batch.actions.rows.length);
        let at = 0;
        for (const sample of own) {
          const values = valuesOf(sample);
          for (let t = 0; t < values.length; t++) result[at++] = values[t] as number;
        }
        return result;
      },
    };
  });
}

/**
 * A rollout batch cut into mini-batches of whole groups, in an order drawn anew for each rollout batch. A single
 * mini-batch keeps the order of the samples.
 */
export function miniBatches(samples: readonly PolicySample[], count: number, rng: Rng): PolicySample[][] {
  if (count === 1) return [[...samples]];
  const groups = rng.shuffle([...groupById(samples.map(({ group }) => group)).values()]);
  const size = Math.ceil(groups.length / count);
  return chunk(groups, size).map((own) => own.flat().map((index) => samples[index]!));
}
