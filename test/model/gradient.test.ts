/** Every parameter's gradient of a whole model's loss, against finite differences and between backends. */
import { afterEach, expect, test } from 'vitest';
import { Rng, type TokenRole } from '../../src/core/index.ts';
import { startEngine, stopEngine, tf } from '../../src/engine/index.ts';
import { type Batch, collate, crossEntropy, type Network, pixelsToPatches } from '../../src/model/index.ts';
import { END, IMAGE, randomImage, START, TINY_PROCESSOR, tinyConfig, tinyNetwork } from './tiny.ts';

afterEach(() => stopEngine());

/** Two sequences with images of different grid, so that both window groups and padding take part. */
function exampleBatch(network: Network): Batch {
  const sequence = (width: number, height: number, seed: number, words: number[]) => {
    const image = pixelsToPatches(randomImage(width, height, seed), TINY_PROCESSOR);
    const pads = new Array<number>((image.grid.h * image.grid.w) / 4).fill(IMAGE);
    const prompt = [START, ...pads, END, 1, 2];
    return {
      tokenIds: [...prompt, ...words],
      roles: [...prompt.map((): TokenRole => 'prompt'), ...words.map((): TokenRole => 'action')],
      images: [image],
    };
  };
  return collate([sequence(12, 4, 1, [3, 4, 31]), sequence(8, 8, 2, [5, 31])], network.config, {
    padTo: 1,
  });
}

test.each<[string, boolean, RegExp]>([
  ['tied head: all parameters', true, /./],
  ['separate head: what differs', false, /lm_head|embed_tokens/],
])('finite differences, %s', async (_, tied, which) => {
  await startEngine({ backend: 'cpu' });
  const network = tinyNetwork(1, tinyConfig({ tie_word_embeddings: tied }));
  const batch = exampleBatch(network);
  const loss = () => tf.tidy(() => crossEntropy(network, batch).sum.dataSync()[0]!);
  const { grads } = tf.variableGrads(() => crossEntropy(network, batch).sum);
  const rng = new Rng('directions');
  const disagreements: string[] = [];
  for (const [name, variable] of network.parameters) {
    if (!which.test(name)) continue;
    const gradient = grads[variable.name]!.dataSync() as Float32Array;
    const size = Math.hypot(...gradient);
    const random = Array.from(gradient, () => rng.normal());
    const length = Math.hypot(...random);
    // Along the gradient and a random direction at once: the first gives signal, the second catches errors
    // at right angles to it.
    const direction = Float32Array.from(gradient, (g, i) => g / size + random[i]! / length);
    const expected = direction.reduce((sum, d, i) => sum + d * gradient[i]!, 0);
    const original = variable.dataSync().slice() as Float32Array;
    const at = (step: number) => {
      const moved = Float32Array.from(original, (value, i) => value + step * direction[i]!);
      tf.tidy(() => variable.assign(tf.tensor(moved, variable.shape)));
      return loss();
    };
    const step = 4e-3;
    const measured = (at(step) - at(-step)) / (2 * step);
    tf.tidy(() => variable.assign(tf.tensor(original, variable.shape)));
    if (!(size > 0) || Math.abs(measured - expected) > 0.01 * size + 2e-3) {
      disagreements.push(`${name}: gradient ${expected}, finite difference ${measured}, size ${size}`);
    }
  }
  expect(disagreements).toEqual([]);
});

test('the fast backend agrees with the plain one', async () => {
  const gradientsOn = async (backend: 'cpu' | 'onnx') => {
    await startEngine({ backend });
    const network = tinyNetwork(2);
    const batch = exampleBatch(network);
    const named = tf.tidy(() => {
      const { grads } = tf.variableGrads(() => crossEntropy(network, batch).sum);
      return [...network.parameters].map(
        ([name, variable]) => [name, grads[variable.name]!.dataSync().slice() as Float32Array] as const,
      );
    });
    stopEngine();
    return new Map(named);
  };
  const plain = await gradientsOn('cpu');
  const fast = await gradientsOn('onnx');
  const differing: string[] = [];
  for (const [name, expected] of plain) {
    const error = Math.hypot(...expected.map((g, i) => g - fast.get(name)![i]!));
    if (!(error <= 1e-4 * Math.hypot(...expected))) differing.push(`${name}: ${error}`);
  }
  expect(differing).toEqual([]);
});
