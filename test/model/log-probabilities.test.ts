import { beforeAll, describe, expect, test } from 'vitest';
import type { TokenRole } from '../../src/core/index.ts';
import { tf } from '../../src/engine/index.ts';
import {
  collate,
  crossEntropy,
  forward,
  languageHead,
  responseLogProbabilities,
  samplingLogits,
  takenLogProbabilities,
} from '../../src/model/index.ts';
import { tinyConfig, tinyNetwork } from './tiny.ts';

beforeAll(() => tf.setBackend('cpu'));

const close = (actual: ArrayLike<number>, expected: number[], digits = 6) => {
  expect(actual.length).toBe(expected.length);
  expected.forEach((value, i) => {
    expect(actual[i]).toBeCloseTo(value, digits);
  });
};
/** Logits of the distributions 1/8, 2/8, 5/8 and 1/3, 1/3, 1/3. */
const example = () => tf.tensor2d([0, Math.log(2), Math.log(5), 7, 7, 7], [2, 3]);

describe('takenLogProbabilities', () => {
  test('by hand', () => {
    close(takenLogProbabilities(example(), Int32Array.of(2, 0)).dataSync(), [
      Math.log(5 / 8),
      Math.log(1 / 3),
    ]);
  });

  test('gradient: one-hot minus probabilities, times the incoming one', () => {
    const loss = (x: tf.Tensor) =>
      tf.sum(tf.mul(takenLogProbabilities(x as tf.Tensor2D, Int32Array.of(2, 0)), tf.tensor1d([1, -3])));
    const gradient = tf.grad(loss)(example()).dataSync();
    close(gradient, [-1 / 8, -2 / 8, 3 / 8, -2, 1, 1]);
  });

  test('logits of 1e4 and -1e9 stay finite', () => {
    const extreme = tf.tensor2d([1e4, 0, -1e9], [1, 3]);
    close(takenLogProbabilities(extreme, Int32Array.of(0)).dataSync(), [0]);
  });
});

describe('samplingLogits', () => {
  test('temperature 2 halves the logits', () => {
    close(samplingLogits(tf.tensor2d([2, -4], [1, 2]), { temperature: 2 }).dataSync(), [1, -2]);
  });

  test('a banned token has probability 0 and the others share it', () => {
    const logits = samplingLogits(example(), { bannedTokenIds: [1] });
    close(tf.softmax(logits).dataSync(), [1 / 6, 0, 5 / 6, 1 / 2, 0, 1 / 2]);
  });

  test('temperature 0 is refused', () => {
    expect(() => samplingLogits(example(), { temperature: 0 })).toThrow(RangeError);
  });
});

describe('of a model', () => {
  const config = tinyConfig();
  const network = tinyNetwork(7);
  const roles: TokenRole[] = ['prompt', 'prompt', 'action', 'action'];
  const batch = () => collate([{ tokenIds: [1, 2, 3, 4], roles, images: [] }], config, { padTo: 4 });

  /** Plain numbers: softmax of the logits at the two predicting positions. */
  function slow(temperature: number, banned: number[]) {
    const logits = tf.tidy(() => {
      const hidden = tf.reshape(forward(network, batch()), [4, config.text.hiddenSize]) as tf.Tensor2D;
      return languageHead(network.parameters, config.text, hidden).arraySync();
    });
    return [1, 2].map((position) => {
      const weights = logits[position]!.map((z, id) => (banned.includes(id) ? 0 : Math.exp(z / temperature)));
      const total = weights.reduce((sum, w) => sum + w, 0);
      const p = weights.map((w) => w / total);
      const entropy = -p.reduce((sum, q) => sum + (q > 0 ? q * Math.log(q) : 0), 0);
      return { logProbability: Math.log(p[[3, 4][position - 1]!]!), entropy };
    });
  }

  test('log-probability and entropy at a temperature, with banned tokens', () => {
    const expected = slow(0.7, [5, 6]);
    const scores = tf.tidy(() => {
      const result = responseLogProbabilities(network, batch(), { temperature: 0.7, bannedTokenIds: [5, 6] });
      return { taken: result.logProbabilities.dataSync(), entropy: result.entropy().dataSync() };
    });
    close(
      scores.taken.subarray(0, 2),
      expected.map((e) => e.logProbability),
      5,
    );
    close(
      scores.entropy.subarray(0, 2),
      expected.map((e) => e.entropy),
      5,
    );
  });

  test('cross-entropy sums over action tokens only', () => {
    const expected = slow(1, []).reduce((sum, e) => sum - e.logProbability, 0);
    const { sum, count } = crossEntropy(network, batch());
    expect(count).toBe(2);
    expect(sum.dataSync()[0]).toBeCloseTo(expected, 5);
  });

  test('a batch without actions has sum 0 and count 0', () => {
    const silent = collate([{ tokenIds: [1, 2], roles: ['prompt', 'prompt'], images: [] }], config);
    const { sum, count } = crossEntropy(network, silent);
    expect([Math.abs(sum.dataSync()[0]!), count]).toEqual([0, 0]);
  });
});
