import { describe, expect, it } from 'vitest';
import { type Row, textLines, worstFirst } from '../../../src/cli/stages/score-rows.ts';
import type { ScoreResult } from '../../../src/scoring/index.ts';

const result = (over: Partial<ScoreResult>): ScoreResult => ({
  status: 'ok',
  score: 3,
  level: 'fair',
  reasoning: 'the quality is fair.',
  levelStated: 'fair',
  distortions: [],
  wellFormed: true,
  text: '',
  finishReason: 'stop',
  ...over,
});
const row = (file: string, over: Partial<ScoreResult> | null): Row => ({
  file,
  problem: over === null ? 'broken' : null,
  result: over === null ? null : result(over),
});

it('sorts by score; unreadable, unscored and NaN rows come last', () => {
  const rows = [
    row('broken', null),
    row('c', { score: 3 }),
    row('nan', { score: Number.NaN }),
    row('a', { score: 1 }),
    row('mute', { score: null, level: null, status: 'unparsable' }),
    row('b', { score: 2 }),
  ];
  expect(worstFirst(rows).map(({ file }) => file)).toEqual(['a', 'b', 'c', 'broken', 'nan', 'mute']);
});

describe('where the reasoning states another level than the score has', () => {
  it('shows the written score beside the expected one', () => {
    const lines = textLines(row('x', { score: 2.9, std: 0.4, levelStated: 'good', scoreWritten: 3.6 }));
    expect(lines[0]).toBe('2.90 +-0.40  fair  x');
    expect(lines[2]).toContain('the reasoning says good, the score is fair; written was 3.60 (good)');
  });

  it('says so where there is only one score', () => {
    expect(textLines(row('x', { levelStated: 'good' }))[2]).toBe(
      '      the reasoning says good, the score is fair',
    );
  });

  it('says nothing where they agree, or no level is stated', () => {
    expect(textLines(row('x', { scoreWritten: 3.1 }))).toHaveLength(2);
    expect(textLines(row('x', { levelStated: null }))).toHaveLength(2);
  });
});
