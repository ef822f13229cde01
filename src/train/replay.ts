import { z } from 'zod';
import type { Rng } from '../core/index.ts';
import { appendTokens } from '../model/index.ts';
import { BoundedStalenessBuffer, stalenessConfigSchema, unionOfKinds } from '../rl/index.ts';
import { placeSchema } from './partial-rollouts.ts';
import type { PolicySample } from './policy-batch.ts';
import type { PromptSource, RolloutPrompt } from './prompt-source.ts';

export const replayConfigSchema = unionOfKinds([
  z.strictObject({ kind: z.literal('off') }),
  z
    .strictObject({ kind: z.literal('buffer'), ...stalenessConfigSchema.shape })
    .describe('groups are drawn from those of the last steps instead of the newest alone'),
]);
export type ReplayConfig = z.infer<typeof replayConfigSchema>;

/** A group that the policy may learn from: a prompt, and its samples with their advantages. */
export interface JudgedGroup {
  id: string;
  prompt: RolloutPrompt;
  /** Of the policy, oldest token. */
  version: number;
  samples: {
    tokenIds: readonly number[];
    logProbabilities: readonly number[];
    advantages: readonly number[];
    /** Of the critic, where there is one. */
    critic?: { values: readonly number[]; returns: readonly number[] } | undefined;
  }[];
}

const numbers = z.array(z.number());
const storedGroupSchema = z.strictObject({
  id: z.string(),
  version: z.int().min(0),
  place: placeSchema,
  samples: z.array(
    z.strictObject({
      tokenIds: z.array(z.int()),
      logProbabilities: numbers,
      advantages: numbers,
      critic: z.strictObject({ values: numbers, returns: numbers }).optional(),
    }),
  ),
});

const count = z.int().min(0);
export const replayStateSchema = z.strictObject({
  entries: z.array(z.strictObject({ id: z.string(), version: count, uses: count })),
  counts: z.strictObject({
    admitted: count,
    refused: count,
    expired: count,
    displaced: count,
    used: count,
  }),
  groups: z.array(storedGroupSchema),
});
export type ReplayState = z.infer<typeof replayStateSchema>;

/** Groups of earlier steps, none staler than the bound; its content is part of a checkpoint. */
export class Replay {
  readonly #buffer: BoundedStalenessBuffer<JudgedGroup>;
  readonly #groups = new Map<string, JudgedGroup>();

  constructor(config: Extract<ReplayConfig, { kind: 'buffer' }>) {
    const { kind: _, ...settings } = config;
    this.#buffer = new BoundedStalenessBuffer(settings);
  }

  /** Takes the groups of a step in and draws as many as the step learns from. */
  exchange(
    fresh: readonly JudgedGroup[],
    { wanted, version, rng }: { wanted: number; version: number; rng: Rng },
  ): { groups: JudgedGroup[]; metrics: Record<string, number> } {
    for (const group of fresh) {
      if (this.#buffer.add({ id: group.id, version: group.version, item: group }, version)) {
        this.#groups.set(group.id, group);
      }
    }
    const drawn = this.#buffer.draw(wanted, { current: version, rng });
    const held = new Set(this.#buffer.state().entries.map(({ id }) => id));
    for (const id of this.#groups.keys()) if (!held.has(id)) this.#groups.delete(id);
    const staleness = drawn.map((entry) => entry.staleness);
    return {
      groups: drawn.map(({ item }) => item),
      metrics: {
        'replay/size': this.#buffer.size,
        ...(staleness.length === 0
          ? {}
          : {
              'replay/staleness_mean': staleness.reduce((sum, value) => sum + value, 0) / staleness.length,
              'replay/staleness_max': Math.max(...staleness),
            }),
      },
    };
  }

  state(): ReplayState {
    return {
      ...this.#buffer.state(),
      groups: [...this.#groups.values()].map(({ id, version, prompt, samples }) => ({
        id,
        version,
        place: { ...prompt.place },
        samples: samples.map(({ tokenIds, logProbabilities, advantages, critic }) => ({
          tokenIds: [...tokenIds],
          logProbabilities: [...logProbabilities],
          advantages: [...advantages],
          ...(critic === undefined
            ? {}
            : { critic: { values: [...critic.values], returns: [...critic.returns] } }),
        })),
      })),
    };
  }

  /** Pictures and prompts are made again: they are functions of their place. */
  restore({ groups, entries, counts }: ReplayState, source: PromptSource): void {
    this.#groups.clear();
    for (const { place, ...group } of groups) {
      this.#groups.set(group.id, { ...group, prompt: source.prompt(place) });
    }
    this.#buffer.restore({ entries, counts }, (id) => this.#groups.get(id));
  }
}

/** The samples of groups as the policy learns from them. */
export const policySamplesOf = (groups: readonly JudgedGroup[], version: number): PolicySample[] =>
  groups.flatMap(({ id, prompt, samples, version: own }) =>
    samples.map(({ tokenIds, logProbabilities, advantages, critic }) => ({
      sequence: appendTokens(prompt.sequence, tokenIds, 'action'),
      logProbabilities,
      advantages,
      ...(critic === undefined ? {} : { critic }),
      group: id,
      isStale: own < version,
    })),
  );
