import type { RewardValue } from '../core/index.ts';
import { IQA_TERMS, type IqaRubric } from '../env/index.ts';
import { appendTokens, type ImageFeatures, type VisionLanguageModel } from '../model/index.ts';
import {
  type AlgorithmConfig,
  estimateAdvantages,
  klPenalisedRewards,
  type RewardTerm,
} from '../rl/index.ts';
import { microBatches, type PolicySample } from './policy-batch.ts';
import { policyScorer } from './policy-scores.ts';
import type { RolloutSample } from './rollouts.ts';

export interface JudgedRollouts {
  /** Samples that have an advantage and are not masked. */
  kept: PolicySample[];
  metrics: Record<string, number>;
}

/** KL(policy || reference) of each action token, [A] per sample, as a penalty on the reward. */
export interface RewardPenalty {
  tokenRewards: Float64Array[];
  metrics: Record<string, number>;
}

/** Turns the rewards of a step into advantages, and leaves out what must not be learnt from. */
export function judgeRollouts(
  samples: readonly RolloutSample[],
  {
    config,
    weights,
    truncated,
    penalty,
    greedyRewards,
  }: {
    config: AlgorithmConfig;
    weights: IqaRubric['weights'];
    truncated: 'keep' | 'mask' | 'penalise';
    penalty: RewardPenalty | null;
    /** Of the prompt of each sample; for `remax`. */
    greedyRewards: readonly RewardValue[] | null;
  },
): JudgedRollouts {
  const { advantages, counts } = estimateAdvantages(config.advantage, {
    rewards: samples.map(({ reward }) => reward),
    groupIds: samples.map(({ group }) => group),
    actions: samples.map(({ completion }) => new Uint8Array(completion.tokenIds.length).fill(1)),
    ...(penalty === null ? {} : { tokenRewards: penalty.tokenRewards }),
    ...(greedyRewards === null ? {} : { greedyRewards }),
    ...(config.advantage.kind === 'gdpo' ? { terms: termsOf(samples, weights, truncated) } : {}),
  });
  const kept = samples.flatMap((sample, i): PolicySample[] => {
    const own = advantages[i];
    if (own === null || own === undefined) return [];
    if (truncated === 'mask' && sample.completion.finishReason === 'length') return [];
    return [policySample(sample, own)];
  });
  return {
    kept,
    metrics: {
      frac_reward_zero_std: counts.zeroVarianceGroups / counts.groups,
      'group/missing': counts.missing,
      'samples/trained': kept.length,
      ...penalty?.metrics,
    },
  };
}

/** -beta KL at every action token. Ziegler et al. (arXiv 1909.08593), equation 2. */
export async function rewardPenalty(
  samples: readonly RolloutSample[],
  reference: VisionLanguageModel,
  features: ImageFeatures | null,
  {
    kl,
    coefficient,
    temperature,
    microBatch,
  }: { kl: AlgorithmConfig['kl']; coefficient: number; temperature: number; microBatch: number },
): Promise<RewardPenalty> {
  const scorer = policyScorer(reference, features, { temperature });
  const tokenRewards: Float64Array[] = [];
  let [sum, tokens] = [0, 0];
  const all = samples.map((sample) => policySample(sample, []));
  for (const micro of microBatches(all, microBatch, reference)) {
    const scores = await scorer.logProbabilities(micro.batch);
    let at = 0;
    for (const { logProbabilities } of micro.samples) {
      const length = logProbabilities.length;
      const { rewards, meanKl } = klPenalisedRewards(
        {
          rewards: new Float64Array(length),
          actions: new Uint8Array(length).fill(1),
          logProbabilities,
          reference: scores.subarray(at, at + length),
        },
        { estimator: kl.estimator, coefficient },
      );
      tokenRewards.push(rewards);
      sum += meanKl * length;
      tokens += length;
      at += length;
    }
  }
  return { tokenRewards, metrics: { kl: tokens === 0 ? 0 : sum / tokens } };
}

const policySample = (
  { prompt, completion, group }: RolloutSample,
  advantages: ArrayLike<number>,
): PolicySample => ({
  sequence: appendTokens(prompt, completion.tokenIds, 'action'),
  logProbabilities: completion.logProbabilities,
  advantages,
  group,
});

/** The weighted terms of the reward, each for all samples; one that applies to no sample is none. */
function termsOf(
  samples: readonly RolloutSample[],
  weights: IqaRubric['weights'],
  truncated: 'keep' | 'mask' | 'penalise',
): RewardTerm[] {
  return IQA_TERMS.flatMap((name): RewardTerm[] => {
    const weight = weights[name];
    if (weight === 0 || samples.every(({ parts }) => parts.terms[name] === undefined)) return [];
    return [
      {
        name,
        weight,
        rewards: samples.map(({ parts, completion }): RewardValue => {
          if (truncated === 'penalise' && completion.finishReason === 'length')
            return { status: 'ok', value: 0 };
          return parts.terms[name] ?? { status: 'missing', reason: `${name} does not apply` };
        }),
      },
    ];
  });
}
