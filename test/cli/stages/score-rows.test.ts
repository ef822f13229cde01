import { describe, expect, it } from 'vitest';
import { csvLines, type Row, tableLines, textLines, worstFirst } from '../../../src/cli/stages/score-rows.ts';
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

it('the table aligns scores and levels; what has no score does not widen it', () => {
  const rows = [
    row('a.png', { score: 1.2, std: 0.5, level: 'bad', reasoning: null, levelStated: null }),
    row('b.png', { score: 4.8, level: 'excellent', reasoning: null, levelStated: null }),
    row('c.png', null),
  ];
  expect(tableLines(rows)).toEqual([
    '1.20 +-0.50  bad        a.png',
    '4.80         excellent  b.png',
    '   -  unreadable  c.png: broken',
  ]);
  expect(tableLines([])).toEqual([]);
});

it('CSV quotes what needs it, and leaves cells without a value empty', async () => {
  const rows = [
    row('a, "b".png', {
      distortions: [{ type: 'jpeg', level: 3 }, { type: 'haze' }],
      interval: { low: 2.5, high: 3.5, level: 0.95 },
    }),
    row('c.png', null),
  ];
  expect(await csvLines(rows, true)).toBe(
    'file,status,score,low,high,level,distortions,reasoning,problem\n' +
      '"a, ""b"".png",ok,3,2.5,3.5,fair,"jpeg 3, haze",the quality is fair.,\n' +
      'c.png,unreadable,,,,,,,broken',
  );
  expect(await csvLines(rows.slice(1), false)).toBe('c.png,unreadable,,,,,,,broken');
});

it('names a file once in a line whose problem begins with its name', () => {
  const told = (problem: string) => textLines({ file: 'a/c.png', result: null, problem });
  expect(told('a/c.png is broken: copy it again')).toEqual([
    '   -  unreadable  a/c.png is broken: copy it again',
  ]);
  expect(told('opening it failed')).toEqual(['   -  unreadable  a/c.png: opening it failed']);
});
