import { z } from 'zod';
import { appendTokens, type Sequence, type VisionLanguageModel } from '../model/index.ts';
import { continueSegments, oldestVersion, type VersionSegment } from '../rl/index.ts';
import type { PromptPlace, PromptSource, RolloutPrompt } from './prompt-source.ts';
import type { SampledCompletion, SampledGroup } from './rollouts.ts';

const memberSchema = z.strictObject({
  tokenIds: z.array(z.int().min(0)),
  logProbabilities: z.array(z.number()),
  segments: z.array(z.strictObject({ version: z.int(), from: z.int(), to: z.int() })),
  ended: z.boolean(),
});

export const placeSchema = z.strictObject({
  step: z.int().min(0),
  round: z.int().min(0),
  index: z.int().min(0),
  record: z.int().min(0),
});

export const unfinishedGroupsSchema = z.array(
  z.strictObject({ place: placeSchema, members: z.array(memberSchema) }),
);
export type UnfinishedGroups = z.infer<typeof unfinishedGroupsSchema>;

interface Member {
  tokenIds: number[];
  logProbabilities: number[];
  segments: readonly VersionSegment[];
  /** Whether an end-of-sequence token was sampled. */
  ended: boolean;
}

interface Group {
  prompt: RolloutPrompt;
  members: Member[];
}

/**
 * Groups whose completions are sampled a few tokens at a time, going on under the weights of later steps (Kimi k1.5,
 * arXiv 2501.12599, section 2.6). A group is handed out when all of its members have ended or are as long as allowed.
 */
export class PartialRollouts {
  readonly #longest: number;
  #groups: Group[] = [];

  /** @param longest tokens of a completion */
  constructor(longest: number) {
    this.#longest = longest;
  }

  /** Groups that wait for further tokens. */
  get waiting(): number {
    return this.#groups.length;
  }

  begin(prompts: readonly RolloutPrompt[], groupSize: number): void {
    for (const prompt of prompts) {
      const members = Array.from(
        { length: groupSize },
        (): Member => ({
          tokenIds: [],
          logProbabilities: [],
          segments: [],
          ended: false,
        }),
      );
      this.#groups.push({ prompt, members });
    }
  }

  /** What is to be sampled on: every unfinished member, in order. */
  unfinished(): { prompt: RolloutPrompt; sequence: Sequence }[] {
    return this.#unfinished().map(({ prompt, member }) => ({
      prompt,
      sequence: appendTokens(prompt.sequence, member.tokenIds, 'action'),
    }));
  }

  prompts(): RolloutPrompt[] {
    return this.#groups.map(({ prompt }) => prompt);
  }

  /** Takes the next tokens of every sequence that `unfinished` gave; null where there are none this time. */
  extend(pieces: readonly (SampledCompletion | null)[]): void {
    const unfinished = this.#unfinished();
    if (pieces.length !== unfinished.length) {
      throw new RangeError(`partial rollouts: ${pieces.length} pieces for ${unfinished.length} sequences`);
    }
    unfinished.forEach(({ member }, i) => {
      const piece = pieces[i];
      if (piece === null || piece === undefined) return;
      member.tokenIds.push(...piece.tokenIds);
      member.logProbabilities.push(...piece.logProbabilities);
      member.segments = continueSegments(member.segments, piece.version, piece.tokenIds.length);
      member.ended = piece.finishReason === 'stop';
    });
  }

  /** Removes and returns the groups that are done. */
  finished({ tokenizer }: VisionLanguageModel): SampledGroup[] {
    const isDone = ({ members }: Group) => members.every((member) => this.#isDone(member));
    const done = this.#groups.filter(isDone);
    this.#groups = this.#groups.filter((group) => !isDone(group));
    return done.map(({ prompt, members }) => ({
      prompt,
      completions: members.map(({ tokenIds, logProbabilities, segments, ended }) => ({
        tokenIds,
        logProbabilities,
        text: tokenizer.decode(tokenIds),
        finishReason: ended ? ('stop' as const) : ('length' as const),
        version: oldestVersion(segments)!,
      })),
    }));
  }

  state(): UnfinishedGroups {
    return this.#groups.map(({ prompt, members }) => ({
      place: { ...prompt.place },
      members: members.map(({ segments, ...member }) => ({
        ...structuredClone(member),
        segments: [...segments],
      })),
    }));
  }

  restore(state: UnfinishedGroups, source: PromptSource): void {
    this.#groups = state.map(({ place, members }) => ({
      prompt: source.prompt(place satisfies PromptPlace),
      members: structuredClone(members),
    }));
  }

  #unfinished(): { prompt: RolloutPrompt; member: Member }[] {
    return this.#groups.flatMap(({ prompt, members }) =>
      members.filter((member) => !this.#isDone(member)).map((member) => ({ prompt, member })),
    );
  }

  #isDone({ ended, tokenIds }: Member): boolean {
    return ended || tokenIds.length >= this.#longest;
  }
}
