import { describe, expect, it } from 'vitest';
import { levelOfScore } from '../../src/core/index.ts';
import { mergeViews } from '../../src/scoring/merge-views.ts';
import type { ScoreResult } from '../../src/scoring/result.ts';

const result = (score: number | null, more: Partial<ScoreResult> = {}): ScoreResult => ({
  status: score === null ? 'unparsable' : 'ok',
  score,
  level: score === null ? null : levelOfScore(score),
  reasoning: `about ${score}`,
  levelStated: null,
  distortions: [],
  wellFormed: score !== null,
  text: `<answer>${score}</answer>`,
  finishReason: 'stop',
  ...more,
});

describe('the results about the views of one picture', () => {
  it('give their mean score, its level, and every view’s score', () => {
    const merged = mergeViews([result(2), result(3.5), result(4.4)]);
    expect(merged.score).toBeCloseTo(3.3, 12);
    expect(merged.level).toBe(levelOfScore(3.3));
    expect(merged.views).toEqual([2, 3.5, 4.4]);
  });

  it('speak with the words of the view nearest to the mean', () => {
    expect(mergeViews([result(2), result(3.5), result(4.4)]).reasoning).toBe('about 3.5');
  });

  it('of two as near, the first speaks', () => {
    expect(mergeViews([result(2), result(3)]).reasoning).toBe('about 2');
  });

  it('have no score where one view has none', () => {
    const merged = mergeViews([result(2), result(null), result(4)]);
    expect([merged.status, merged.score]).toEqual(['unparsable', null]);
  });

  it('a single view is the result, unchanged', () => {
    const only = result(2.71, { scoreWritten: 3, std: 0.4 });
    expect(mergeViews([only])).toBe(only);
  });

  it('spreads come together as the root of their mean square', () => {
    const merged = mergeViews([result(2, { std: 0.3 }), result(3, { std: 0.4 })]);
    expect(merged.std).toBeCloseTo(Math.sqrt((0.09 + 0.16) / 2), 12);
  });

  it('no spread is told where a view has none', () => {
    expect(mergeViews([result(2, { std: 0.3 }), result(3)]).std).toBeUndefined();
  });
});
