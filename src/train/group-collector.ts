import type { Rng } from '../core/index.ts';
import type { ImageFeatures, VisionLanguageModel } from '../model/index.ts';
import { type DifficultySampler, decideResampling, groupById, type ResamplingConfig } from '../rl/index.ts';
import { type EngineGroup, type EnginePrompt, engineMetrics, type RolloutEngine } from './engines/index.ts';
import type { PartialRollouts } from './partial-rollouts.ts';
import type { PictureFeatures } from './picture-features.ts';
import type { PromptSource, RolloutPrompt } from './prompt-source.ts';
import { type Rewarder, type RolloutSample, rewardGroups, type SampledGroup } from './rollouts.ts';

export interface CollectorOptions {
  model: VisionLanguageModel;
  engine: RolloutEngine;
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
  const sampledGroups: EngineGroup[] = [];
  const termMetrics = new Map<string, number>();
  let dropped = 0;
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
    const sampled = await timed('rollout', () =>
      partial === null ? whole(options, prompts, rng) : inPieces(options, partial, prompts, rng),
    );
    const { samples, metrics } = await timed('reward', () => rewardGroups(rewarder, step, sampled.groups));
    all.push(...samples);
    sampledGroups.push(...sampled.all);
    dropped += sampled.dropped;
    for (const [name, value] of Object.entries(metrics)) addTermMetric(termMetrics, name, value);
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
  const metrics: Record<string, number> = Object.fromEntries(termMetrics);
  // The trainer's own model fails as a whole or not at all: it has no such metrics.
  if (options.engine.kind !== 'local') {
    Object.assign(metrics, engineMetrics(sampledGroups, options.engine.version), {
      'rollout/dropped_groups': dropped,
    });
  }
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

const enginePrompt = ({ sequence, messages, pixels }: RolloutPrompt, own = sequence): EnginePrompt => ({
  sequence: own,
  messages,
  images: [pixels()],
});

/** A group that failures left with fewer than two answers compares nothing: it is dropped, and counted. */
async function whole(
  options: CollectorOptions,
  prompts: readonly RolloutPrompt[],
  rng: Rng,
): Promise<Sampled> {
  const { engine, groupSize, maxNewTokens, temperature } = options;
  const imageFeatures = await featuresOf(options, prompts);
  const groups = await engine.sample(
    prompts.map((prompt) => enginePrompt(prompt)),
    { groupSize, maxNewTokens, temperature, rng, imageFeatures },
  );
  const least = Math.min(2, groupSize);
  const sampled = groups.map(({ completions }, i) => ({ prompt: prompts[i]!, completions }));
  const usable = sampled.filter(({ completions }) => completions.length >= least);
  return { groups: usable, all: groups, dropped: sampled.length - usable.length };
}

/**
 * Every unfinished completion, old or new, gets its next tokens; what is done comes back. A piece that failed is
 * asked for again in the next step.
 */
async function inPieces(
  options: CollectorOptions,
  { rollouts, tokensPerStep }: NonNullable<CollectorOptions['partial']>,
  prompts: readonly RolloutPrompt[],
  rng: Rng,
): Promise<Sampled> {
  const { engine, temperature } = options;
  rollouts.begin(prompts, options.groupSize);
  const imageFeatures = await featuresOf(options, rollouts.prompts());
  const pieces = await engine.sample(
    rollouts.unfinished().map(({ prompt, sequence }) => enginePrompt(prompt, sequence)),
    { groupSize: 1, maxNewTokens: tokensPerStep, temperature, rng, imageFeatures },
  );
  rollouts.extend(pieces.map(({ completions }) => completions[0] ?? null));
  return { groups: rollouts.finished(options.model), all: pieces, dropped: 0 };
}

interface Sampled {
  groups: SampledGroup[];
  /** As the engine gave them, failures included. */
  all: EngineGroup[];
  dropped: number;
}

/**
 * Counts and seconds of a reward term add up over the rounds of a step. Its mean and spread are taken over all samples
 * of the step by `rewardMetrics`, and its weight is the same in each round.
 */
function addTermMetric(sums: Map<string, number>, name: string, value: number): void {
  if (name.endsWith('/mean') || name.endsWith('/std')) return;
  sums.set(name, name.endsWith('/weight') ? value : (sums.get(name) ?? 0) + value);
}
