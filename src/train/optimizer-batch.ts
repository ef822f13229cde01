import type { Rng } from '../core/index.ts';
import {
  type AlgorithmConfig,
  type BatchTokens,
  batchTotals,
  entropyClipTerms,
  globalDenominator,
  importanceCorrection,
  offPolicySequenceMask,
  preparePolicyLoss,
  type ResolvedPolicyLoss,
  tokenWeights,
  topEntropyMask,
} from '../rl/index.ts';
import type { MicroBatch } from './policy-batch.ts';

/** What a micro-batch contributes to an optimizer batch: vectors in the order of its action tokens, padded. */
export interface MicroBatchVectors {
  advantages: Float32Array;
  weights: Float32Array;
  /** Factors on the surrogate; null: 1 everywhere. */
  importance: Float32Array | null;
  /** Tokens chosen over the whole optimizer batch; null for losses that choose none. */
  selected: Float32Array | null;
}

export interface OptimizerBatch {
  loss: ResolvedPolicyLoss;
  denominator: number;
  totalTokens: number;
  vectors: MicroBatchVectors[];
  metrics: Record<string, number>;
}

/** Log-probabilities of every action token, [A] per micro-batch, without padding. */
export interface OptimizerBatchScores {
  /** Under the weights that are about to be updated. */
  current: readonly ArrayLike<number>[];
  /** Under the weights that the ratio is taken against. */
  old: readonly ArrayLike<number>[];
  /** Under the trainer's weights at the start of the rollout batch; null: not computed, the sampler's stand for it. */
  start: readonly ArrayLike<number>[] | null;
  /** Entropies under the current weights; null where nothing needs them. */
  entropies: readonly ArrayLike<number>[] | null;
}

/** Whether the decisions need the tokens as the present weights see them. */
export function needsCurrent({ policyLoss, importance }: AlgorithmConfig): boolean {
  const { kind } = policyLoss;
  return kind === 'bapo' || kind === 'clip-cov' || kind === 'kl-cov' || importance.offPolicyKl !== null;
}

export const needsEntropies = ({ entropy }: AlgorithmConfig): boolean => entropy.topShare < 1;

/**
 * All decisions that belong to an optimizer batch as a whole - denominators, BAPO's bounds, selected tokens,
 * importance weights - made before it is cut: the gradient is then the same for any micro-batch.
 *
 * @param longest tokens that a response may have, for the aggregation by a constant
 */
export function decideOptimizerBatch(
  micros: readonly MicroBatch[],
  scores: OptimizerBatchScores,
  config: AlgorithmConfig,
  { longest, rng }: { longest: number; rng: Rng },
): OptimizerBatch {
  const samples = micros.flatMap(({ samples: own }) => own);
  const lengths = micros.flatMap(({ lengths: own }) => own);
  const totals = batchTotals(lengths);
  const { aggregation } = config;
  const denominator = globalDenominator(
    aggregation.kind,
    totals,
    aggregation.kind === 'constant' ? (aggregation.length ?? longest) : undefined,
  );
  const current = join(scores.current);
  const sampler = join(samples.map(({ logProbabilities }) => logProbabilities));
  const tokens: BatchTokens = {
    logProbabilities: current,
    oldLogProbabilities: join(scores.old),
    advantages: join(samples.map(({ advantages }) => advantages)),
  };
  const prepared = preparePolicyLoss(config.policyLoss, tokens, rng);
  const metrics = { ...prepared.metrics };
  const bounds = boundsOf(prepared.loss);
  const terms = bounds === null ? null : entropyClipTerms(tokens, bounds);
  for (const [name, value] of Object.entries(terms ?? {})) metrics[`entropy_clip/${name}`] = value as number;

  let importance: Float64Array | null = null;
  const factor = (values: ArrayLike<number>): void => {
    importance = Float64Array.from(values, (value, t) => value * (importance?.[t] ?? 1));
  };
  const { correction, offPolicyKl } = config.importance;
  if (correction.kind !== 'none') {
    const start = scores.start === null ? sampler : join(scores.start);
    const corrected = importanceCorrection(start, sampler, lengths, correction);
    metrics['importance/ratio_mean'] = corrected.meanRatio;
    metrics['importance/affected_share'] = corrected.affectedShare;
    factor(corrected.weights);
  }
  if (offPolicyKl !== null) {
    const advantages = samples.map(({ advantages: own }) => sumOf(own));
    const kept = offPolicySequenceMask({ sampler, current, lengths, advantages }, offPolicyKl);
    metrics['importance/masked_sequences'] = kept.filter((mark) => mark === 0).length / kept.length;
    factor(lengths.flatMap((length, i) => new Array<number>(length).fill(kept[i]!)));
  }
  if (scores.entropies !== null) factor(topEntropyMask(join(scores.entropies), config.entropy.topShare));

  let at = 0;
  const vectors = micros.map((micro): MicroBatchVectors => {
    const size = micro.batch.actions.rows.length;
    const own = micro.lengths.reduce((sum, length) => sum + length, 0);
    const from = at;
    at += own;
    const slice = (values: ArrayLike<number> | null): Float32Array | null => {
      if (values === null) return null;
      const result = new Float32Array(size);
      for (let t = 0; t < own; t++) result[t] = values[from + t] as number;
      return result;
    };
    return {
      advantages: micro.perToken(({ advantages }) => advantages),
      weights: tokenWeights(aggregation.kind, micro.lengths, size),
      importance: slice(importance),
      selected: slice(prepared.selected),
    };
  });
  return { loss: prepared.loss, denominator, totalTokens: totals.tokens, vectors, metrics };
}

/** Bounds of the ratio beyond which a token's gain is cut; null for losses that have none per token. */
function boundsOf(loss: ResolvedPolicyLoss): { low: number; high: number } | null {
  if (loss.kind === 'clip') return { low: 1 - loss.epsilonLow, high: 1 + loss.epsilonHigh };
  return loss.kind === 'moving-clip' ? { low: loss.low, high: loss.high } : null;
}

function join(parts: readonly ArrayLike<number>[]): Float64Array {
  const result = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) for (let t = 0; t < part.length; t++) result[at++] = part[t] as number;
  return result;
}

const sumOf = (values: ArrayLike<number>): number =>
  Array.from(values).reduce((sum, value) => sum + value, 0);
