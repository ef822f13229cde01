import { beforeAll, describe, expect, test } from 'vitest';
import { InputError, type TokenRole } from '../../src/core/index.ts';
import { tf } from '../../src/engine/index.ts';
import {
  attention,
  type Batch,
  causalAttention,
  collate,
  crossEntropy,
  encodeImages,
  forward,
  type Network,
  type ProcessedImage,
  pixelsToPatches,
  responseLogProbabilities,
  type Sequence,
} from '../../src/model/index.ts';
import { END, IMAGE, randomImage, START, TINY_PROCESSOR, tinyConfig, tinyNetwork } from './tiny.ts';

beforeAll(() => tf.setBackend('cpu'));

const config = tinyConfig();
const image = (width: number, height: number, seed: number) =>
  pixelsToPatches(randomImage(width, height, seed), TINY_PROCESSOR);

function sequence(images: ProcessedImage[], words: number[], response: number[]): Sequence {
  const prompt = images.flatMap(({ grid }) => [
    START,
    ...new Array<number>((grid.h * grid.w) / 4).fill(IMAGE),
    END,
  ]);
  prompt.push(...words);
  const roles = [...prompt.map((): TokenRole => 'prompt'), ...response.map((): TokenRole => 'action')];
  return { tokenIds: [...prompt, ...response], roles, images };
}

const scored = (network: Network, batch: Batch): number[] =>
  tf
    .tidy(() => [...responseLogProbabilities(network, batch).logProbabilities.dataSync()])
    .slice(0, batch.actions.count);

const expectClose = (actual: ArrayLike<number>, expected: ArrayLike<number>) => {
  expect(actual.length).toBe(expected.length);
  for (let i = 0; i < expected.length; i++) expect(Math.abs(actual[i]! - expected[i]!)).toBeLessThan(1e-5);
};

describe('a batch changes nothing for its members', () => {
  const network = tinyNetwork(3);
  const members = [
    sequence([image(12, 12, 1)], [1, 2], [3, 4, 31]),
    sequence([image(8, 4, 2), image(8, 8, 3)], [5], [6, 31]),
    sequence([], [7, 8, 9], [10, 11, 12, 13, 31]),
  ];

  test('log-probabilities alone and together', () => {
    const alone = members.flatMap((member) => scored(network, collate([member], config)));
    expectClose(scored(network, collate(members, config)), alone);
  });

  test('the gradient of all together is the sum of the gradients of each', () => {
    const gradients = (sequences: readonly Sequence[]): Map<string, Float32Array> => {
      const batch = collate(sequences, config);
      const variables = [...network.parameters.values()];
      const { value, grads } = tf.variableGrads(() => crossEntropy(network, batch).sum, variables);
      const values = new Map<string, Float32Array>();
      for (const [name, variable] of network.parameters) {
        const gradient = grads[variable.name];
        values.set(
          name,
          gradient === undefined ? new Float32Array(variable.size) : (gradient.dataSync() as Float32Array),
        );
      }
      tf.dispose([value, ...Object.values(grads)]);
      return values;
    };
    // The third member has no picture: its loss does not reach the vision tower.
    const each = members.slice(0, 2).map((member) => gradients([member]));
    const together = gradients(members.slice(0, 2));
    for (const [name, values] of together) {
      const sum = each[0]!.get(name)!.map((value, i) => value + each[1]!.get(name)![i]!);
      const size = Math.hypot(...sum) + 1e-6;
      const apart = Math.hypot(...values.map((value, i) => value - sum[i]!));
      expect([name, apart / size < 1e-4]).toEqual([name, true]);
    }
  });

  test('more padding', () => {
    const usual = scored(network, collate(members, config));
    expectClose(scored(network, collate(members, config, { padTo: 64 })), usual);
  });
});

describe('images', () => {
  const network = tinyNetwork(4);

  test('an image shared by two sequences is encoded once', () => {
    const shared = image(8, 8, 1);
    const batch = collate([sequence([shared], [1], [2]), sequence([shared], [3], [4])], config);
    expect(batch.images.map(({ count }) => count)).toEqual([1]);
    const copies = [image(8, 8, 1), image(8, 8, 1)].map((copy, i) =>
      sequence([copy], [1 + 2 * i], [2 + 2 * i]),
    );
    expectClose(scored(network, batch), scored(network, collate(copies, config)));
  });

  test('the order of images matters, whatever their grid', () => {
    const [a, b] = [image(8, 4, 1), image(4, 8, 2)];
    const batch = collate([sequence([b, a, b], [1], [2])], config);
    const v = config.text.vocabularySize;
    // b is first met, so it has rows 0 and 1; a has 2 and 3.
    expect([...batch.inputRows.subarray(0, 13)]).toEqual([
      START,
      v,
      v + 1,
      END,
      START,
      v + 2,
      v + 3,
      END,
      START,
      v,
      v + 1,
      END,
      1,
    ]);
  });

  test('embeddings given are used instead of encoding again', () => {
    const batch = collate([sequence([image(8, 8, 1)], [1], [2])], config);
    const both = tf.tidy(() => {
      const imageEmbeddings = encodeImages(network, batch.images)!;
      const given = responseLogProbabilities(network, batch, { imageEmbeddings }).logProbabilities.dataSync();
      const zero = tf.zerosLike(imageEmbeddings);
      const blind = responseLogProbabilities(network, batch, { imageEmbeddings: zero });
      return { given: given[0]!, blind: blind.logProbabilities.dataSync()[0]! };
    });
    expect(both.given).toBeCloseTo(scored(network, batch)[0]!, 6);
    expect(Math.abs(both.blind - both.given)).toBeGreaterThan(1e-3);
  });
});

describe('collate', () => {
  test('actions: the row before each, its token, its sequence; padded with weight 0', () => {
    const { actions, length } = collate([sequence([], [1, 2], [3, 31]), sequence([], [4], [5])], config, {
      padTo: 8,
    });
    expect(length).toBe(8);
    expect(actions.count).toBe(3);
    expect([...actions.rows.subarray(0, 3)]).toEqual([1, 2, 8]);
    expect([...actions.tokenIds.subarray(0, 3)]).toEqual([3, 31, 5]);
    expect([...actions.sequences.subarray(0, 3)]).toEqual([0, 0, 1]);
    expect(actions.rows.length).toBe(16);
    expect(actions.weights.reduce((sum, w) => sum + w, 0)).toBe(3);
  });

  test('tokens of an environment carry no loss', () => {
    const roles: TokenRole[] = ['prompt', 'action', 'observation', 'action'];
    const { actions } = collate([{ tokenIds: [1, 2, 3, 4], roles, images: [] }], config);
    expect([...actions.tokenIds.subarray(0, actions.count)]).toEqual([2, 4]);
  });

  test.each<[string, Sequence[], string]>([
    ['no sequence', [], 'at least one'],
    ['an empty sequence', [{ tokenIds: [], roles: [], images: [] }], 'no tokens'],
    ['roles missing', [{ tokenIds: [1, 2], roles: ['prompt'], images: [] }], '2 tokens but 1 roles'],
    [
      'an action nothing predicts',
      [{ tokenIds: [1], roles: ['action'], images: [] }],
      'starts with an action',
    ],
    ['an id past the vocabulary', [{ tokenIds: [40], roles: ['prompt'], images: [] }], 'token id 40'],
    ['a sampled image token', [sequence([image(4, 4, 1)], [1], [IMAGE])], 'has 1 image tokens'],
    ['an image without tokens', [{ ...sequence([], [1], [2]), images: [image(4, 4, 1)] }], '1 were given'],
  ])('%s is refused', (_, sequences, message) => {
    expect(() => collate(sequences, config)).toThrow(InputError);
    expect(() => collate(sequences, config)).toThrow(message);
  });

  test('an over-long sequence is refused, never cut', () => {
    const long = sequence([], [1, 2, 3, 4], [5]);
    expect(() => collate([long], config, { maxLength: 4 })).toThrow('has 5 tokens, at most 4');
  });
});

test('decoding token by token with cached keys gives the hidden states of one pass', () => {
  const network = tinyNetwork(5);
  const tokens = [1, 2, 3, 4, 5, 6];
  const one = (from: number, to: number): Batch => {
    const whole = collate([sequence([], tokens, [])], config, { padTo: 1 });
    const part = collate([sequence([], tokens.slice(from, to), [])], config, { padTo: 1 });
    const size = config.text.headSize;
    return {
      ...part,
      cos: whole.cos.slice(from * size, to * size),
      sin: whole.sin.slice(from * size, to * size),
    };
  };
  tf.tidy(() => {
    const expected = forward(network, one(0, 6)).dataSync();
    const keys: tf.Tensor4D[] = [];
    const values: tf.Tensor4D[] = [];
    const prefill = causalAttention(3, (layer, k, v) => {
      keys[layer] = k;
      values[layer] = v;
    });
    const hidden = [...forward(network, one(0, 3), { attend: prefill }).dataSync()];
    for (let t = 3; t < 6; t++) {
      const step = forward(network, one(t, t + 1), {
        attend: (layer, q, k, v) => {
          keys[layer] = tf.concat([keys[layer]!, k], 2);
          values[layer] = tf.concat([values[layer]!, v], 2);
          return attention(q, keys[layer]!, values[layer]!);
        },
      });
      hidden.push(...step.dataSync());
    }
    expectClose(hidden, expected);
  });
});

test('a forward and backward pass leaves no tensor behind', () => {
  const network = tinyNetwork(6);
  const batch = collate([sequence([image(8, 8, 1)], [1], [2])], config);
  const before = tf.memory().numTensors;
  tf.tidy(() => {
    tf.variableGrads(() => tf.sum(responseLogProbabilities(network, batch).logProbabilities) as tf.Scalar);
  });
  expect(tf.memory().numTensors).toBe(before);
});
