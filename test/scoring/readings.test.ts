import { describe, expect, it } from 'vitest';
import type { ScoreResult } from '../../src/scoring/index.ts';
import {
  goodPoorScore,
  levelDistribution,
  meanOfSamples,
  scoreDistribution,
  sumsAlong,
  textUpToLevel,
} from '../../src/scoring/index.ts';

const log = (probabilities: readonly number[]): number[] => probabilities.map(Math.log);

describe('the level words', () => {
  it('weighs them 1 to 5, worst first', () => {
    // .1 bad, .2 poor, .4 fair, .2 good, .1 excellent: the middle; variance .2 * 4 + .4 * 1.
    const { mean, std } = levelDistribution(log([0.1, 0.2, 0.4, 0.2, 0.1]));
    expect(mean).toBeCloseTo(3, 12);
    expect(std).toBeCloseTo(Math.sqrt(1.2), 12);
  });

  it('renormalises: 3 to 1 for good against excellent is 4.25, whatever other words hold', () => {
    expect(levelDistribution(log([0, 0, 0, 0.03, 0.01])).mean).toBeCloseTo(4.25, 12);
  });

  it('takes logits as well: a constant changes nothing', () => {
    const logits = [1, 2, 3, 4, 5];
    expect(levelDistribution(logits.map((x) => x + 100)).mean).toBeCloseTo(
      levelDistribution(logits).mean,
      12,
    );
  });
});

describe('good against poor', () => {
  it('is 1 + 4 p: even odds are the middle, 3 to 1 is 4', () => {
    expect(goodPoorScore(-2, -2)).toBe(3);
    expect(goodPoorScore(Math.log(0.03), Math.log(0.01))).toBeCloseTo(4, 12);
    expect(goodPoorScore(Math.log(0.01), Math.log(0.03))).toBeCloseTo(2, 12);
  });

  it('stays in the scale far out', () => {
    expect(goodPoorScore(0, -1000)).toBe(5);
    expect(goodPoorScore(-1000, 0)).toBe(1);
  });
});

describe('a word of several tokens', () => {
  it('has the product of its tokens, each after those before it', () => {
    // Tokens 0, 1, 2. Words [0] and [1, 2]: p(0) = .5; p(1) = .25, then p(2 | 1) = .1.
    const next = [log([0.5, 0.25, 0.25]), log([0.8, 0.1, 0.1])];
    const [one, two] = sumsAlong([[0], [1, 2]], next);
    expect(Math.exp(one!)).toBeCloseTo(0.5, 12);
    expect(Math.exp(two!)).toBeCloseTo(0.025, 12);
  });

  it('shares a beginning: [1, 0] and [1, 2] look up the same row', () => {
    const next = [log([0.5, 0.4, 0.1]), log([0.7, 0.1, 0.2])];
    const [a, b] = sumsAlong(
      [
        [1, 0],
        [1, 2],
      ],
      next,
    );
    expect(Math.exp(a!)).toBeCloseTo(0.28, 12);
    expect(Math.exp(b!)).toBeCloseTo(0.08, 12);
  });
});

it('a first digit that is left out counts nothing', () => {
  const three = log(Array.from({ length: 10 }, (_, d) => (d === 3 ? 1 : 0)));
  const { mean } = scoreDistribution(log([0, 0.5, 0.5, 0, 0]), [null, three, three, null, null]);
  expect(mean).toBeCloseTo(2.845, 12); // (2.345 + 3.345) / 2
});

describe('where the level is read', () => {
  it.each([
    ['the level stated last', 'poor light. so the quality is good. fine', 'poor light. so the quality is'],
    ['behind a reasoning without one', 'a bridge', 'a bridge the overall quality is'],
    ['not inside a word', 'a goodly bridge', 'a goodly bridge the overall quality is'],
  ])('%s', (_what, reasoning, beginning) => {
    const text = `<think>${reasoning}</think><answer>3.00</answer>`;
    expect(textUpToLevel({ text, reasoning })).toBe(`<think>${beginning}`);
  });
});

describe('several samples', () => {
  const sample = (score: number | null, text: string): ScoreResult => ({
    status: score === null ? 'unparsable' : 'ok',
    score,
    level: null,
    reasoning: null,
    levelStated: null,
    distortions: [],
    wellFormed: score !== null,
    text,
    finishReason: 'stop',
  });

  it('mean, standard deviation and the text nearest to the mean; what failed is counted, not guessed', () => {
    const result = meanOfSamples([sample(2, 'a'), sample(null, 'b'), sample(3, 'c'), sample(4.6, 'd')]);
    expect(result).toMatchObject({
      status: 'ok',
      level: 'fair',
      text: 'c',
      scoreWritten: 3,
      samples: { drawn: 4, scores: [2, null, 3, 4.6] },
    });
    expect(result.score).toBeCloseTo(3.2, 12);
    // Deviations -1.2, -.2, 1.4: squares 1.44 + .04 + 1.96 = 3.44, over 2.
    expect(result.std).toBeCloseTo(Math.sqrt(1.72), 12);
  });

  it('one score among failures has no standard deviation', () => {
    const result = meanOfSamples([sample(null, 'a'), sample(4, 'b')]);
    expect(result).toMatchObject({ score: 4, text: 'b', samples: { drawn: 2, scores: [null, 4] } });
    expect(result).not.toHaveProperty('std');
  });

  it('none with a score is no score', () => {
    const result = meanOfSamples([sample(null, 'a'), sample(null, 'b')]);
    expect(result).toMatchObject({ status: 'unparsable', score: null, text: 'a' });
  });
});
