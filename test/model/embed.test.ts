import { afterAll, beforeAll, expect, it } from 'vitest';
import { startEngine, stopEngine, tf } from '../../src/engine/index.ts';
import { embed, type Parameters } from '../../src/model/index.ts';

beforeAll(async () => {
  await startEngine({ threads: 2 });
});
afterAll(() => stopEngine());

// Row r of the words holds r in every column, row r of the images -1 - r. Small: one table of both; large: two.
it.each([
  [8, 4],
  [8200, 512],
])('words and images of a table of %i rows of %i', (vocabulary, width) => {
  const column = tf.range(0, vocabulary, 1).reshape([vocabulary, 1]) as tf.Tensor2D;
  const words = tf.variable(tf.tile(column, [1, width]));
  const parameters: Parameters = new Map([['model.embed_tokens.weight', words]]);
  const images = tf.variable(tf.tile(tf.tensor2d([-1, -2, -3], [3, 1]), [1, width]));
  const rows = tf.tensor2d([7, vocabulary + 2, 0, vocabulary, 7, 1], [2, 3], 'int32');
  const first = tf.slice(embed(parameters, rows, images as tf.Tensor2D), [0, 0, width - 1], [2, 3, 1]);
  expect([...first.dataSync()]).toEqual([7, -3, 0, -1, 7, 1]);
  const { grads } = tf.variableGrads(
    () => tf.sum(embed(parameters, rows, images as tf.Tensor2D)),
    [words, images],
  );
  const ofWords = tf.sum(grads[words.name]!, 1).dataSync();
  expect([...ofWords.slice(0, 8)].map((value) => value / width)).toEqual([1, 1, 0, 0, 0, 0, 0, 2]);
  expect([...tf.sum(grads[images.name]!, 1).dataSync()].map((value) => value / width)).toEqual([1, 0, 1]);
});
