import { afterEach, describe, expect, test } from 'vitest';
import type { TokenRole } from '../../src/core/index.ts';
import { startEngine, stopEngine, tf } from '../../src/engine/index.ts';
import {
  type Batch,
  collate,
  collateShared,
  type Network,
  pixelsToPatches,
  responseLogProbabilities,
  type Sequence,
} from '../../src/model/index.ts';
import { END, IMAGE, randomImage, START, TINY_PROCESSOR, tinyConfig, tinyNetwork } from './tiny.ts';

afterEach(() => stopEngine());

const prompt = (width: number, height: number, seed: number, words: number[]) => {
  const image = pixelsToPatches(randomImage(width, height, seed), TINY_PROCESSOR);
  const pads = new Array<number>((image.grid.h * image.grid.w) / 4).fill(IMAGE);
  return { tokenIds: [START, ...pads, END, ...words], images: [image] };
};
/** An answer, with words of somebody else between its tokens where `heard` is given. */
const answered = (
  { tokenIds, images }: ReturnType<typeof prompt>,
  words: number[],
  heard: number[] = [],
): Sequence => {
  const asRole = (ids: readonly number[], role: TokenRole) => ids.map(() => role);
  return {
    tokenIds: [...tokenIds, ...words, ...heard, ...(heard.length > 0 ? [7, 31] : [])],
    roles: [
      ...asRole(tokenIds, 'prompt'),
      ...asRole(words, 'action'),
      ...asRole(heard, 'observation'),
      ...asRole(heard.length > 0 ? [7, 31] : [], 'action'),
    ],
    images,
  };
};

const [wide, square, alone] = [prompt(12, 4, 1, [1, 2]), prompt(8, 8, 2, [5]), prompt(4, 4, 3, [8, 9, 10])];
/** Two answers to one prompt, three to another, out of order, and one to a third. */
const sequences = [
  answered(square, [3, 4, 31]),
  answered(wide, [5, 31]),
  answered(square, [6, 6, 6, 6, 31], [11, 12]),
  answered(alone, [31]),
  answered(wide, [13, 14, 15, 16, 17, 18, 31]),
  answered(square, [19]),
];
const keys = ['square', 'wide', 'square', 'alone', 'wide', 'square'];

/** Log-probabilities and gradients of a weighted sum of them. */
async function measured(network: Network, batch: Batch) {
  const variables = [...network.parameters.values()];
  let logProbabilities: tf.Tensor = tf.scalar(0);
  const { grads, value } = tf.variableGrads(() => {
    const scores = responseLogProbabilities(network, batch, { temperature: 0.8 });
    logProbabilities = tf.keep(scores.logProbabilities.clone());
    const weights = Float32Array.from(batch.actions.weights, (weight, i) => weight * Math.cos(i));
    return tf.sum(tf.mul(scores.logProbabilities, tf.tensor1d(weights))) as tf.Scalar;
  }, variables);
  const values = (await logProbabilities.data()).slice(0, batch.actions.count);
  await value.data();
  const gradients = new Map<string, Float32Array>();
  for (const [name, variable] of network.parameters) {
    gradients.set(name, (await grads[variable.name]!.data()) as Float32Array);
  }
  return { values, gradients };
}

describe.each(['cpu', 'onnx'] as const)('prompts that are run once, on %s', (backend) => {
  test('give the log-probabilities and gradients of whole sequences', async () => {
    await startEngine({ backend });
    const network = tinyNetwork(5);
    const plain = collate(sequences, network.config, { padTo: 4 });
    const shared = collateShared(sequences, keys, network.config, { padTo: 4 });
    expect(shared.prefix!.batch.size).toBe(3);
    expect(shared.length).toBeLessThan(plain.length);
    const [expected, got] = [await measured(network, plain), await measured(network, shared)];
    expect(got.values.length).toBe(expected.values.length);
    expected.values.forEach((value, i) => {
      expect(got.values[i]).toBeCloseTo(value, 5);
    });
    for (const [name, gradient] of expected.gradients) {
      const size = Math.hypot(...gradient);
      const difference = Math.hypot(...gradient.map((value, i) => value - got.gradients.get(name)![i]!));
      expect([name, difference / (size + 1e-3) < 1e-4]).toEqual([name, true]);
    }
  });
});

describe('where there is nothing to share', () => {
  const config = tinyConfig();

  test('every sequence has a prompt of its own: the plain batch', () => {
    const own = sequences.map((_, i) => String(i));
    expect(collateShared(sequences, own, config)).toEqual(collate(sequences, config));
  });

  test('a sequence without an answer, or with a picture after one: the plain batch', () => {
    const silent = { ...answered(wide, []), images: wide.images };
    expect(collateShared([silent, silent], ['a', 'a'], config).prefix).toBeUndefined();
    const shown: Sequence = {
      tokenIds: [1, 2, 3, ...square.tokenIds, 4],
      roles: ['prompt', 'prompt', 'action', ...square.tokenIds.map((): TokenRole => 'observation'), 'action'],
      images: square.images,
    };
    expect(collateShared([shown, shown], ['a', 'a'], config).prefix).toBeUndefined();
  });

  test('sequences of one key that begin with other prompts are refused', () => {
    const pair = [answered(wide, [3, 31]), answered(square, [4, 31])];
    expect(() => collateShared([...pair, answered(wide, [5])], ['a', 'a', 'a'], config)).toThrow(
      'sequence 1 does not begin with the prompt of its key',
    );
  });
});
