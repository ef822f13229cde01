import type { Rng } from '../core/index.ts';
import { generate, type ImageFeatures, type VisionLanguageModel } from '../model/index.ts';
import { type DifficultySampler, decideResampling, groupById, type ResamplingConfig } from '../rl/index.ts';
import type { PartialRollouts } from './partial-rollouts.ts';
import type { PictureFeatures } from './picture-features.ts';
import type { PromptSource, RolloutPrompt } from './prompt-source.ts';
import {
  type Rewarder,
  type RolloutSample,
  rewardGroups,
  type SampledGroup,
  sampleGroups,
} from './rollouts.ts';

export interface CollectorOptions {
  model: VisionLanguageModel;
  source: PromptSource;
  rewarder: Rewarder;
  cache: PictureFeatures | null;
  /** Told how each group went, where it draws the prompts. */
  difficulty: DifficultySampler | null;
  resampling: ResamplingConfig;
  /** Completions that go on over several steps; null: each is sampled whole. */
  partial: { rollouts: PartialRollouts; tokensPerStep: number } | null;
  promptsPerStep: number;
  groupSize: number;
  maxNewTokens: number;
  temperature: number;
  timed: <T>(phase: 'rollout' | 'reward', work: () => Promise<T>) => Promise<T>;
}

export interface Collected {
  /** Of the groups that the step learns from. */
  samples: RolloutSample[];
  /** Of all groups that were sampled, for the metrics: dropped ones count as well. */
  all: RolloutSample[];
  metrics: Record<string, number>;
}

/** Samples and rewards the groups of a step; where zero-variance groups are resampled, in several rounds. */
export async function collectGroups(options: CollectorOptions, step: number, draw: Rng): Promise<Collected> {
  const { source, rewarder, resampling, promptsPerStep, difficulty, partial, timed } = options;
  const all: RolloutSample[] = [];
  const used = new Set<number>();
  const extra = new Map<string, number>();
  let rounds = 0;
  const decide = () =>
    decideResampling(resampling, {
      wanted: promptsPerStep,
      rounds,
      groups: [...groupById(all.map(({ group }) => group))].map(([id, members]) => ({
        id,
        rewards: members.map((i) => all[i]!.reward),
      })),
    });
  let decision = decide();
  while (decision.draw > 0) {
    const wanted = Math.max(0, decision.draw - (partial?.rollouts.waiting ?? 0));
    const records = source.records({ step, round: rounds }, wanted, used);
    if (records.length === 0 && partial === null) break;
    for (const record of records) used.add(record);
    const prompts = records.map((record, index) => source.prompt({ step, round: rounds, index, record }));
    const rng = rounds === 0 ? draw.fork('rollout') : draw.fork('rollout', rounds);
    const groups = await timed('rollout', () =>
      partial === null ? whole(options, prompts, step, rng) : inPieces(options, partial, prompts, step, rng),
    );
    const { samples, metrics } = await timed('reward', () => rewardGroups(rewarder, step, groups));
    all.push(...samples);
    for (const [name, value] of Object.entries(metrics)) extra.set(name, value);
    rounds++;
    if (partial !== null) break;
    decision = decide();
  }
  decision = partial === null ? decision : { ...decision, kept: [...new Set(all.map(({ group }) => group))] };
  if (difficulty !== null) {
    for (const members of groupById(all.map(({ group }) => group)).values()) {
      const { record } = all[members[0]!]!.prompt.place;
      difficulty.observe(
        String(record),
        members.map((i) => all[i]!.reward),
      );
    }
  }
  const kept = new Set(decision.kept);
  const metrics = Object.fromEntries(extra);
  if (resampling.kind === 'dynamic') {
    const { counts, exhausted } = decision;
    metrics['resampling/rounds'] = rounds;
    metrics['resampling/sampled'] = counts.sampled;
    metrics['resampling/zero_variance'] = counts.zeroVariance;
    metrics['resampling/exhausted'] = exhausted || counts.missing > 0 ? 1 : 0;
  }
  return { samples: all.filter(({ group }) => kept.has(group)), all, metrics };
}

const featuresOf = async (
  { cache }: CollectorOptions,
  prompts: readonly RolloutPrompt[],
): Promise<ImageFeatures | undefined> => cache?.of(prompts.map(({ picture }) => picture));

async function whole(
  options: CollectorOptions,
  prompts: readonly RolloutPrompt[],
  version: number,
  rng: Rng,
): Promise<SampledGroup[]> {
  const features = await featuresOf(options, prompts);
  const groups = await sampleGroups(options.model, prompts, options, rng, features);
  return groups.map((completions, i) => ({
    prompt: prompts[i]!,
    completions: completions.map((completion) => ({ ...completion, version })),
  }));
}

/** Every unfinished completion, old or new, gets its next tokens; what is done comes back. */
async function inPieces(
  options: CollectorOptions,
  { rollouts, tokensPerStep }: NonNullable<CollectorOptions['partial']>,
  prompts: readonly RolloutPrompt[],
  version: number,
  rng: Rng,
): Promise<SampledGroup[]> {
  rollouts.begin(prompts, options.groupSize);
  const features = await featuresOf(options, rollouts.prompts());
  const pieces = await generate(options.model, rollouts.sequences(), {
    maxNewTokens: tokensPerStep,
    temperature: options.temperature,
    rng,
    ...(features === undefined ? {} : { imageFeatures: features }),
  });
  rollouts.extend(
    pieces.map(([piece]) => piece!),
    version,
  );
  return rollouts.finished(options.model);
}
