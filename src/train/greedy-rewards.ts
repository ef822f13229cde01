import type { RewardValue, Rng } from '../core/index.ts';
import { generate, type VisionLanguageModel } from '../model/index.ts';
import type { PictureFeatures } from './picture-features.ts';
import type { RolloutPrompt } from './prompt-source.ts';
import { groupId, type Rewarder, type RolloutSample, rewardGroups } from './rollouts.ts';

/** Reward of the most probable answer to the prompt of each sample: the baseline of ReMax (arXiv 2310.10505). */
export async function greedyRewards(
  {
    model,
    rewarder,
    cache,
    maxNewTokens,
  }: {
    model: VisionLanguageModel;
    rewarder: Rewarder;
    cache: PictureFeatures | null;
    maxNewTokens: number;
  },
  samples: readonly RolloutSample[],
  step: number,
  rng: Rng,
): Promise<RewardValue[]> {
  const prompts = [
    ...new Map<string, RolloutPrompt>(samples.map(({ group, prompt }) => [group, prompt])).values(),
  ];
  const features = await cache?.of(prompts.map(({ picture }) => picture));
  const answers = await generate(
    model,
    prompts.map(({ sequence }) => sequence),
    {
      maxNewTokens,
      temperature: 0,
      rng: rng.fork('greedy'),
      ...(features === undefined ? {} : { imageFeatures: features }),
    },
  );
  const groups = prompts.map((prompt, i) => ({
    prompt,
    completions: answers[i]!.map((completion) => ({ ...completion, version: step })),
  }));
  const rewarded = await rewardGroups(rewarder, step, groups);
  const rewards = new Map(rewarded.samples.map(({ prompt, reward }) => [groupId(prompt), reward]));
  return samples.map(({ group }) => rewards.get(group)!);
}
