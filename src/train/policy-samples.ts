import type { RewardValue } from '../core/index.ts';
import { IQA_TERMS, type IqaRubric } from '../env/index.ts';
import { appendTokens, type VisionLanguageModel } from '../model/index.ts';
import {
  type AlgorithmConfig,
  estimateAdvantages,
  klPenalisedRewards,
  type RewardTerm,
} from '../rl/index.ts';
import { valueMetrics } from './critic/index.ts';
import type { PictureFeatures } from './picture-features.ts';
import { microBatches, type PolicySample } from './policy-batch.ts';
import { policyScorer } from './policy-scores.ts';
import type { JudgedGroup } from './replay.ts';
import type { RolloutSample } from './rollouts.ts';

export interface JudgedRollouts {
  /** Groups with the samples that have an advantage and are not masked. */
  groups: JudgedGroup[];
  metrics: Record<string, number>;
}

/** KL(policy || reference) of each action token, [A] per sample, as a penalty on the reward. */
export interface RewardPenalty {
  tokenRewards: Float64Array[];
  /** Over all action tokens, nats. NaN without any. */
  meanKl: number;
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
    values,
  }: {
    config: AlgorithmConfig;
    /** Of the rubric's terms and of those beside it. */
    weights: RewardWeights;
    truncated: 'keep' | 'mask' | 'penalise';
    penalty: RewardPenalty | null;
    /** Of the prompt of each sample; for `remax`. */
    greedyRewards: readonly RewardValue[] | null;
    /** [A] per sample, the critic's; for `gae`. */
    values: readonly Float64Array[] | null;
  },
): JudgedRollouts {
  const { advantages, returns, counts } = estimateAdvantages(config.advantage, {
    rewards: samples.map(({ reward }) => reward),
    groupIds: samples.map(({ group }) => group),
    actions: samples.map(({ completion }) => new Uint8Array(completion.tokenIds.length).fill(1)),
    ...(penalty === null ? {} : { tokenRewards: penalty.tokenRewards }),
    ...(greedyRewards === null ? {} : { greedyRewards }),
    ...(values === null ? {} : { values }),
    ...(config.advantage.kind === 'gdpo' ? { terms: termsOf(samples, weights, truncated) } : {}),
  });
  const groups = new Map<string, JudgedGroup>();
  let kept = 0;
  samples.forEach(({ completion, group: id, prompt }, i) => {
    const own = advantages[i];
    if (own === null || own === undefined) return;
    if (truncated === 'mask' && completion.finishReason === 'length') return;
    const { tokenIds, logProbabilities, version } = completion;
    const critic =
      values === null || returns === undefined
        ? undefined
        : { values: Array.from(values[i]!), returns: Array.from(returns[i]!) };
    const group = groups.get(id) ?? { id, prompt, version, samples: [] };
    group.version = Math.min(group.version, version);
    group.samples.push({ tokenIds, logProbabilities, advantages: Array.from(own), critic });
    groups.set(id, group);
    kept++;
  });
  return {
    groups: [...groups.values()],
    metrics: {
      ...(counts.groups > 0 ? { frac_reward_zero_std: counts.zeroVarianceGroups / counts.groups } : {}),
      'group/missing': counts.missing,
      'samples/kept': kept,
      ...(penalty === null ? {} : { kl: penalty.meanKl }),
      ...valueMetrics(
        [...groups.values()].flatMap((group) => group.samples.flatMap(({ critic }) => critic ?? [])),
      ),
    },
  };
}

/** Samples of a step as a network may score them, before they have an advantage. */
export const unjudged = (samples: readonly RolloutSample[]): PolicySample[] =>
  samples.map(({ prompt, completion, group }) => ({
    sequence: appendTokens(prompt.sequence, completion.tokenIds, 'action'),
    logProbabilities: completion.logProbabilities,
    advantages: [],
    group,
    isStale: false,
  }));

/** -beta KL at every action token. Ziegler et al. (arXiv 1909.08593), equation 2. */
export async function rewardPenalty(
  samples: readonly RolloutSample[],
  reference: VisionLanguageModel,
  cache: PictureFeatures | null,
  {
    kl,
    coefficient,
    temperature,
    microBatch,
  }: { kl: AlgorithmConfig['kl']; coefficient: number; temperature: number; microBatch: number },
): Promise<RewardPenalty> {
  const features = (await cache?.of(samples.map(({ prompt }) => prompt.picture))) ?? null;
  const scorer = policyScorer(reference, features, { temperature });
  const tokenRewards: Float64Array[] = [];
  let [sum, tokens] = [0, 0];
  for (const micro of microBatches(unjudged(samples), microBatch, reference)) {
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
  return { tokenRewards, meanKl: sum / tokens };
}

export interface RewardWeights {
  rubric: IqaRubric['weights'];
  extra: Readonly<Record<string, number>>;
}

/** The weighted terms of the reward, each for all samples; one that applies to no sample is none. */
function termsOf(
  samples: readonly RolloutSample[],
  weights: RewardWeights,
  truncated: 'keep' | 'mask' | 'penalise',
): RewardTerm[] {
  const term = (
    name: string,
    weight: number,
    of: (sample: RolloutSample) => RewardValue | undefined,
  ): RewardTerm[] => {
    if (weight === 0 || samples.every((sample) => of(sample) === undefined)) return [];
    const rewards = samples.map((sample): RewardValue => {
      const isCut = sample.completion.finishReason === 'length';
      if (truncated === 'penalise' && isCut) return { status: 'ok', value: 0 };
      return of(sample) ?? { status: 'missing', reason: `${name} does not apply` };
    });
    return [{ name, weight, rewards }];
  };
  return [
    ...IQA_TERMS.flatMap((name) => term(name, weights.rubric[name], ({ parts }) => parts.terms[name])),
    ...Object.entries(weights.extra).flatMap(([name, weight]) =>
      term(name, weight, ({ extra }) => extra[name]),
    ),
  ];
}
