import { describe, expect, it } from 'vitest';
import { episodeRubricSchema, episodeTerms } from '../../../src/env/text/index.ts';

describe('episodeTerms', () => {
  const episode = { rewards: [0, 0.5, 0, -1], unread: 1 };

  it.each([
    ['last', -1],
    ['sum', -0.5],
    ['best', 0.5],
  ] as const)('takes the %s reward as the outcome', (outcome, expected) => {
    expect(episodeTerms(episode, episodeRubricSchema.parse({ outcome }))).toEqual({
      outcome: expected,
      unread: 0,
      step: 0,
    });
  });

  it('takes off replies that were not read, and steps', () => {
    const rubric = episodeRubricSchema.parse({ unread: 0.25, step: 0.125 });
    expect(episodeTerms(episode, rubric)).toEqual({ outcome: -1, unread: -0.25, step: -0.5 });
  });

  it('is 0 of an episode without a reply', () => {
    for (const outcome of ['last', 'sum', 'best']) {
      const rubric = episodeRubricSchema.parse({ outcome, unread: 1, step: 1 });
      expect(episodeTerms({ rewards: [], unread: 0 }, rubric)).toEqual({ outcome: 0, unread: 0, step: 0 });
    }
  });
});
