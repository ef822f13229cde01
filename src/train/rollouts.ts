import type { Completion, RewardValue, Rng } from '../core/index.ts';
import type { IqaRubric, IqaTarget, ScoredCompletion } from '../env/index.ts';
import { generate, type ImageFeatures, type Sequence, type VisionLanguageModel } from '../model/index.ts';

/** One completion of one training image, rewarded. */
export interface RolloutSample {
  prompt: Sequence;
  completion: Completion;
  /** The prompt of the step that it belongs to. */
  group: string;
  /** Index of the image in the training split. */
  record: number;
  parts: ScoredCompletion;
  reward: RewardValue;
}

export interface RolloutSettings {
  groupSize: number;
  maxNewTokens: number;
  temperature: number;
  truncated: 'keep' | 'mask' | 'penalise';
}

/** A prompt of a step: the image it asks about, and what its answers are rewarded for. */
export interface RolloutPrompt {
  sequence: Sequence;
  record: number;
  target: IqaTarget;
}

/** G completions of each prompt, all prompts in one batch. */
export function sampleGroups(
  model: VisionLanguageModel,
  prompts: readonly RolloutPrompt[],
  { groupSize, maxNewTokens, temperature }: Omit<RolloutSettings, 'truncated'>,
  rng: Rng,
  imageFeatures: ImageFeatures | undefined,
): Promise<Completion[][]> {
  return generate(
    model,
    prompts.map(({ sequence }) => sequence),
    {
      samplesPerPrompt: groupSize,
      maxNewTokens,
      temperature,
      rng,
      ...(imageFeatures === undefined ? {} : { imageFeatures }),
    },
  );
}

/** Rewards all groups of a step at once: the rank form of the reward compares images. */
export function rewardGroups(
  rubric: IqaRubric,
  prompts: readonly RolloutPrompt[],
  groups: readonly Completion[][],
  { truncated }: Pick<RolloutSettings, 'truncated'>,
): RolloutSample[] {
  const scored = rubric.scoreGroups(
    groups.map((group, i) => ({ target: prompts[i]!.target, texts: group.map(({ text }) => text) })),
  );
  return groups.flatMap((group, i) =>
    group.map((completion, k) => {
      const parts = scored[i]![k]!;
      const cut = completion.finishReason === 'length' && truncated === 'penalise';
      const reward: RewardValue = cut ? { status: 'ok', value: 0 } : parts.total;
      const { sequence, record } = prompts[i]!;
      return { prompt: sequence, completion, group: String(i), record, parts, reward };
    }),
  );
}
