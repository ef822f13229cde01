import type { Completion, RewardValue } from '../core/index.ts';
import { imagePath } from '../data/index.ts';
import { addRewards, type IqaRubric, type RewardTerms, type ScoredCompletion } from '../env/index.ts';
import type { VisionLanguageModel } from '../model/index.ts';
import type { BlindScorer } from './blind/index.ts';
import type { Examples } from './pictures.ts';
import type { RolloutPrompt } from './prompt-source.ts';
import { joinedText } from './r3-starts.ts';

/** A completion of a prompt, and whether older weights than the present ones sampled a part of it. */
export interface SampledCompletion extends Completion {
  /** Policy version that its oldest token comes from. */
  version: number;
}

export interface SampledGroup {
  prompt: RolloutPrompt;
  completions: SampledCompletion[];
}

/** One completion of one training image, rewarded. */
export interface RolloutSample {
  prompt: RolloutPrompt;
  completion: SampledCompletion;
  /** The prompt of the step that it belongs to. */
  group: string;
  parts: ScoredCompletion;
  /** Rewards beside the rubric's, by name. */
  extra: Record<string, RewardValue>;
  reward: RewardValue;
}

export interface Rewarder {
  rubric: IqaRubric;
  terms: RewardTerms;
  /** What the rubric's `expectedScore` asks; null: it asks nothing. */
  blind: BlindScorer | null;
  truncated: 'keep' | 'mask' | 'penalise';
  /** The question as text. */
  text: string;
  /** Folder of the data set. */
  dataset: string;
  train: Examples;
  model: VisionLanguageModel;
}

export interface Rewarded {
  samples: RolloutSample[];
  /** Of the terms beside the rubric. */
  metrics: Record<string, number>;
}

/** Rewards groups together: the rank form of the reward compares the images of a call. */
export async function rewardGroups(
  { rubric, terms, blind, truncated, text, dataset, train, model }: Rewarder,
  step: number,
  groups: readonly SampledGroup[],
): Promise<Rewarded> {
  const answers = groups.map(({ prompt, completions }) => ({
    target: prompt.target,
    texts: completions.map((completion) => wholeText(prompt, completion, model)),
  }));
  await blind?.prepare(answers.flatMap(({ texts }) => texts));
  const scored = rubric.scoreGroups(answers);
  const extras =
    terms.names.length === 0
      ? null
      : await terms.score(
          step,
          groups.map(({ prompt: { place, target } }, i) => {
            const record = train.records[place.record]!;
            return {
              id: record.id,
              image: imagePath(dataset, record),
              prompt: text,
              target,
              texts: answers[i]!.texts,
            };
          }),
        );
  const samples = groups.flatMap(({ prompt, completions }, i) =>
    completions.map((completion, k): RolloutSample => {
      const parts = scored[i]![k]!;
      const more = extras?.groups[i]?.[k];
      const cut = completion.finishReason === 'length' && truncated === 'penalise';
      const total = more === undefined ? parts.total : addRewards(parts.total, more.total);
      return {
        prompt,
        completion,
        group: groupId(prompt),
        parts,
        extra: more?.terms ?? {},
        reward: cut ? { status: 'ok', value: 0 } : total,
      };
    }),
  );
  return { samples, metrics: extras?.metrics ?? {} };
}

/** Tells the groups of a run apart. */
export const groupId = ({ place: { step, round, index } }: RolloutPrompt): string =>
  `${step}-${round}-${index}`;

const wholeText = (
  { given }: RolloutPrompt,
  completion: Completion,
  { tokenizer }: VisionLanguageModel,
): string =>
  given === null ? completion.text : joinedText(given.demonstration, given.start, completion, tokenizer);
