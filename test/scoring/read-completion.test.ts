import { describe, expect, it } from 'vitest';
import type { FinishReason } from '../../src/core/index.ts';
import { readCompletion } from '../../src/scoring/index.ts';

const read = (text: string, finishReason: FinishReason = 'stop') =>
  readCompletion({ text, finishReason, tokenIds: [], logProbabilities: [] });

describe('reading an output', () => {
  it('a whole answer', () => {
    const text = '<think>strong jpeg blocking. the quality is poor.</think><answer>2.10</answer>';
    expect(read(text)).toMatchObject({
      status: 'ok',
      score: 2.1,
      level: 'poor',
      levelStated: 'poor',
      reasoning: 'strong jpeg blocking. the quality is poor.',
      wellFormed: true,
      finishReason: 'stop',
      text,
    });
  });

  it('keeps the level that was stated beside the one that the score has', () => {
    const { level, levelStated } = read('<think>the quality is good.</think><answer>1.20</answer>');
    expect({ level, levelStated }).toEqual({ level: 'bad', levelStated: 'good' });
  });

  it.each<[string, string, FinishReason, string]>([
    ['no answer', '<think>fine.</think>', 'stop', 'unparsable'],
    ['no answer yet', '<think>fine.</think>', 'length', 'truncated'],
    ['an answer that is no number', '<think>a</think><answer>good</answer>', 'stop', 'unparsable'],
    ['a score above 5', '<think>a</think><answer>5.01</answer>', 'stop', 'out-of-range'],
    ['a score above 5, cut after it', '<think>a</think><answer>7</answer>', 'length', 'out-of-range'],
    ['nothing', '', 'stop', 'unparsable'],
  ])('%s has a status and no score', (_what, text, finishReason, status) => {
    expect(read(text, finishReason)).toMatchObject({ status, score: null, level: null });
  });

  it('an answer that was cut only after its end counts', () => {
    const result = read('<think>a</think><answer>4.00</answer>', 'length');
    expect(result).toMatchObject({ status: 'ok', score: 4, level: 'good' });
  });

  it('takes 5 as excellent and 1 as bad', () => {
    expect(read('<answer>5.00</answer>').level).toBe('excellent');
    expect(read('<answer>1.00</answer>').level).toBe('bad');
  });

  it('states no level where the reasoning states two', () => {
    expect(read('<think>good or bad.</think><answer>3.00</answer>').levelStated).toBeNull();
  });
});
