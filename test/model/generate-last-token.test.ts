import { afterAll, beforeAll, expect, it } from 'vitest';
import { startEngine, stopEngine, tf } from '../../src/engine/index.ts';
import {
  disposeImageFeatures,
  encodeImageFeatures,
  type GeneratingModel,
  lastTokenLogProbabilities,
} from '../../src/model/index.ts';
import { mixedPrompts, tinyModel } from './generate-fixture.ts';
import { distribution, logitsAfter } from './generate-reference.ts';

let model: GeneratingModel;
beforeAll(async () => {
  await startEngine({ threads: 2 });
  model = tinyModel();
});
afterAll(stopEngine);

const sequences = mixedPrompts();

it.each([
  { temperature: 1, bannedTokenIds: [] },
  { temperature: 0.6, bannedTokenIds: [2, 44] },
])('equals each sequence run alone, in batches of any size: %j', async (options) => {
  for (const batchSize of [2, 3, 32]) {
    const found = await lastTokenLogProbabilities(model, sequences, { ...options, batchSize });
    expect(found.length).toBe(sequences.length);
    for (const [i, sequence] of sequences.entries()) {
      const logits = await logitsAfter(model, sequence);
      const expected = distribution(logits, options.temperature, options.bannedTokenIds);
      const differences = [...found[i]!].map((x, id) => Math.abs(Math.exp(x) - expected[id]!));
      expect(Math.max(...differences)).toBeLessThan(1e-5);
    }
  }
});

it('gives the same with image features computed beforehand, and leaves no tensors behind', async () => {
  const before = tf.memory().numTensors;
  const features = encodeImageFeatures(
    model,
    sequences.flatMap((sequence) => sequence.images),
  );
  // Two distinct images, one of them used twice.
  expect(features.size).toBe(2);
  const given = await lastTokenLogProbabilities(model, sequences, { imageFeatures: features });
  disposeImageFeatures(features);
  const computed = await lastTokenLogProbabilities(model, sequences);
  const differences = given.flatMap((row, i) => [...row].map((x, id) => Math.abs(x - computed[i]![id]!)));
  expect(Math.max(...differences)).toBeLessThan(1e-5);
  expect(tf.memory().numTensors).toBe(before);
});

it('gives nothing for no sequences', async () => {
  expect(await lastTokenLogProbabilities(model, [])).toEqual([]);
});

it.each([0, -1, Number.NaN])('refuses batches of %d sequences', async (batchSize) => {
  await expect(lastTokenLogProbabilities(model, sequences, { batchSize })).rejects.toThrow(
    `batchSize is ${batchSize}`,
  );
});
