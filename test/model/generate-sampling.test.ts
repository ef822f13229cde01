import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEngine, stopEngine, tf } from '../../src/engine/index.ts';
import { chooseTokens, type Sampling } from '../../src/model/generate-sampling.ts';

beforeAll(async () => {
  await startEngine({ threads: 2 });
});
afterAll(stopEngine);

/** The largest number below 1 that a draw can be. */
const ALMOST_ONE = 1 - 2 ** -24;
const all: Sampling = { temperature: 1, topP: 1, bannedTokenIds: [] };

/** Tokens drawn from one distribution by each of the uniforms. */
function choose(probabilities: number[], uniforms: number[], sampling: Partial<Sampling> = {}) {
  return tf.tidy(() => {
    const row = probabilities.map((p) => Math.log(p));
    const logits = tf.tensor2d(uniforms.map(() => row));
    const chosen = chooseTokens(logits, tf.tensor1d(uniforms), { ...all, ...sampling });
    return { tokens: [...chosen.tokens.dataSync()], logs: [...chosen.logProbabilities.dataSync()] };
  });
}

describe('chooseTokens', () => {
  // Cumulative: 0.25, 0.5, 1.
  it('inverts the cumulative distribution', () => {
    const { tokens, logs } = choose([0.25, 0.25, 0.5], [0, 0.2, 0.3, 0.45, 0.55, ALMOST_ONE]);
    expect(tokens).toEqual([0, 0, 1, 1, 2, 2]);
    [0.25, 0.25, 0.25, 0.25, 0.5, 0.5].forEach((p, i) => {
      expect(logs[i]).toBeCloseTo(Math.log(p), 5);
    });
  });

  it('takes no banned token at either end of the range', () => {
    const { tokens } = choose([0.4, 0.2, 0.3, 0.1], [0, ALMOST_ONE], { bannedTokenIds: [0, 3] });
    expect(tokens).toEqual([1, 2]);
  });

  it('takes no token of probability 0, and none past the end, from thousands of tokens', () => {
    const many = Array.from({ length: 5000 }, (_, i) => (i % 2 === 0 ? 0 : (1 + (i % 7)) / 10_000));
    const uniforms = Array.from({ length: 64 }, (_, i) => (i === 63 ? ALMOST_ONE : i / 63));
    const { tokens } = choose(many, uniforms);
    expect(tokens.every((token) => token % 2 === 1)).toBe(true);
    expect(tokens.at(-1)).toBe(4999);
  });

  it('divides the logits by the temperature', () => {
    // At temperature 1/2 the odds 1 : 3 become 1 : 9.
    const { tokens, logs } = choose([0.25, 0.75], [0.09, 0.11], { temperature: 0.5 });
    expect(tokens).toEqual([0, 1]);
    expect(logs[0]).toBeCloseTo(Math.log(0.1), 5);
    expect(logs[1]).toBeCloseTo(Math.log(0.9), 5);
  });

  // Ranked 0.4, 0.3, 0.2, 0.1: the first two reach 0.5 and share the range 4 : 3.
  it('draws from the smallest nucleus that reaches top-p, and reports the whole distribution', () => {
    const { tokens, logs } = choose([0.1, 0.3, 0.2, 0.4], [0, 0.56, 0.58, ALMOST_ONE], { topP: 0.5 });
    expect(tokens).toEqual([3, 3, 1, 1]);
    expect(logs[0]).toBeCloseTo(Math.log(0.4), 5);
    expect(logs[2]).toBeCloseTo(Math.log(0.3), 5);
  });

  it('takes the first of equally probable tokens when greedy, whatever the uniform', () => {
    const { tokens } = choose([0.2, 0.4, 0.4], [0, ALMOST_ONE], { temperature: 0 });
    expect(tokens).toEqual([1, 1]);
  });

  // 0.3, 0.2 and 0.4 stay and share the range 3 : 2 : 4.
  it('draws from the k most probable tokens only, and reports the whole distribution', () => {
    const uniforms = [0, 0.32, 0.34, 0.55, 0.56, ALMOST_ONE];
    const { tokens, logs } = choose([0.1, 0.3, 0.2, 0.4], uniforms, { topK: 3 });
    expect(tokens).toEqual([1, 1, 2, 2, 3, 3]);
    expect(logs[0]).toBeCloseTo(Math.log(0.3), 5);
    expect(logs[5]).toBeCloseTo(Math.log(0.4), 5);
  });

  it('with top-k 1 takes the most probable one, whatever the uniform', () => {
    expect(choose([0.1, 0.3, 0.2, 0.4], [0, 0.5, ALMOST_ONE], { topK: 1 }).tokens).toEqual([3, 3, 3]);
  });

  // Of 0.4, 0.3, 0.2 the shares are 4/9, 3/9, 2/9: two reach 0.75 of them, though 0.7 of the whole is less.
  it('takes the nucleus of what top-k left, as transformers does', () => {
    const { tokens } = choose([0.1, 0.3, 0.2, 0.4], [0, ALMOST_ONE], { topK: 3, topP: 0.75 });
    expect(tokens).toEqual([3, 1]);
  });

  it('divides positive logits of seen tokens by the penalty, and multiplies negative ones', () => {
    const logits = tf.tensor2d([2, 1.5, -1, -1.2], [1, 4]);
    // Penalised by 2: 1, 1.5, -2, -1.2. The most probable is the second; the report is of the logits as they were.
    const { tokens, logs } = tf.tidy(() => {
      const seen = tf.tensor2d([1, 0, 1, 0], [1, 4]);
      const greedy: Sampling = { ...all, temperature: 0, repetitionPenalty: 2 };
      const chosen = chooseTokens(logits, tf.tensor1d([0.5]), greedy, seen);
      return { tokens: [...chosen.tokens.dataSync()], logs: [...chosen.logProbabilities.dataSync()] };
    });
    expect(tokens).toEqual([1]);
    const total = [2, 1.5, -1, -1.2].reduce((sum, x) => sum + Math.exp(x), 0);
    expect(logs[0]).toBeCloseTo(1.5 - Math.log(total), 5);
    // exp(1), exp(1.5), exp(-2), exp(-1.2) = 2.718, 4.482, 0.135, 0.301: the fourth begins at 0.9606 of 7.636.
    const draw = (uniform: number) =>
      tf.tidy(() => {
        const seen = tf.tensor2d([1, 0, 1, 0], [1, 4]);
        return chooseTokens(
          logits,
          tf.tensor1d([uniform]),
          { ...all, repetitionPenalty: 2 },
          seen,
        ).tokens.dataSync()[0];
      });
    expect([0.35, 0.36, 0.942, 0.944, 0.959, 0.962].map(draw)).toEqual([0, 1, 1, 2, 2, 3]);
  });

  it('keeps all tokens as probable as the k-th, however many', () => {
    const even = new Array<number>(100).fill(0.01);
    const uniforms = Array.from({ length: 100 }, (_, i) => (i + 0.5) / 100);
    expect(choose(even, uniforms, { topK: 7 }).tokens).toEqual(even.map((_, id) => id));
    // Half of them, whichever: of equal tokens none comes before the other.
    const half = new Set(choose(even.slice(0, 50), uniforms, { topK: 7, topP: 0.5 }).tokens);
    expect(half.size).toBe(25);
  });

  it('with a top-p too small for a float takes the most probable token', () => {
    for (const topK of [undefined, 3])
      expect(choose([0.3, 0.2, 0.4, 0.1], [0, ALMOST_ONE], { topP: 1e-60, topK }).tokens).toEqual([2, 2]);
  });

  it.each([1e-8, 1e-10])(
    'at temperature %d takes the most probable token that is not banned, with log-probability 0',
    (temperature) => {
      const settings = { temperature, bannedTokenIds: [0] };
      const { tokens, logs } = choose([0.9, 1e-4, 1e-3, 1e-5], [0.001, ALMOST_ONE], settings);
      expect([tokens, logs]).toEqual([
        [2, 2],
        [0, 0],
      ]);
    },
  );

  it('at a temperature without bounds draws evenly', () => {
    const uniforms = [0.1, 0.3, 0.6, 0.9];
    const { tokens, logs } = choose([0.9, 1e-4, 1e-3, 0.1], uniforms, { temperature: 1e300 });
    expect(tokens).toEqual([0, 1, 2, 3]);
    for (const log of logs) expect(log).toBeCloseTo(Math.log(1 / 4), 5);
  });

  it('reports a token that only the penalty lets be drawn, improbable as it is', () => {
    // At temperature 0.01 the odds of 3 to 1 are those of 300 to 100: exp(-200) is 0 as a float. Penalised: 0.3 to 1.
    const { tokens, logs } = tf.tidy(() => {
      const settings: Sampling = { ...all, temperature: 0.01, repetitionPenalty: 10 };
      const logits = tf.tensor2d([3, 1], [1, 2]);
      const chosen = chooseTokens(logits, tf.tensor1d([0.5]), settings, tf.tensor2d([1, 0], [1, 2]));
      return { tokens: [...chosen.tokens.dataSync()], logs: [...chosen.logProbabilities.dataSync()] };
    });
    expect(tokens).toEqual([1]);
    expect(logs[0]).toBeCloseTo(-200, 3);
  });

  it.each([{}, { topK: 2 }, { topP: 0.5 }, { topK: 2, topP: 0.5 }, { temperature: 0 }])(
    'reports NaN of logits that are none, with %j',
    (settings) => {
      expect(choose([0.5, Number.NaN, 0.2], [0.5], settings).logs).toEqual([Number.NaN]);
    },
  );
});
