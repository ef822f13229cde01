import { z } from 'zod';

/** What an episode is worth, apart from the world that it was played in. */
export const episodeRubricSchema = z.strictObject({
  outcome: z
    .enum(['last', 'sum', 'best'])
    .default('last')
    .describe(
      'of the rewards of the steps: the last one (as AgentGym-RL takes it), their sum or the greatest',
    ),
  unread: z
    .number()
    .min(0)
    .default(0)
    .describe('taken off for each reply without an action that can be read'),
  step: z.number().min(0).default(0).describe('taken off for each reply'),
});
export type EpisodeRubric = z.infer<typeof episodeRubricSchema>;

export interface PlayedEpisode {
  /** Rewards of the agent's replies in their order; 0 for one that was not read. */
  rewards: readonly number[];
  /** Replies among them without an action that could be read. */
  unread: number;
}

/**
 * The terms of an episode's reward, each under its name; the reward is their sum. Of an episode without a reply all
 * are 0. An episode that an EnvironmentFailure ended has no reward: it must not come here.
 */
export function episodeTerms(
  { rewards, unread }: PlayedEpisode,
  rubric: EpisodeRubric,
): { outcome: number; unread: number; step: number } {
  const outcomes = {
    last: rewards.at(-1) ?? 0,
    sum: rewards.reduce((sum, reward) => sum + reward, 0),
    best: rewards.length === 0 ? 0 : Math.max(...rewards),
  };
  return {
    outcome: outcomes[rubric.outcome],
    unread: 0 - rubric.unread * unread,
    step: 0 - rubric.step * rewards.length,
  };
}
