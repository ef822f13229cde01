import { describe, expect, test } from 'vitest';
import { InputError, Rng } from '../../src/core/index.ts';
import { initialValues, whitenedPatchEmbedding, whitenPatchEmbedding } from '../../src/model/index.ts';
import { tinyConfig } from './tiny.ts';

const vision = { ...tinyConfig().vision, hiddenSize: 8 }; // rows of 3 colours x 2 frames x 2x2 pixels
const WIDTH = 24;

/** Correlated patches of large variance and mean away from 0; both frames alike, as in a still picture. */
function patches(n: number): Float32Array {
  const rng = new Rng('patches');
  const mixing = Array.from({ length: 12 * 12 }, () => rng.normal(0, 2));
  const result = new Float32Array(n * WIDTH);
  for (let r = 0; r < n; r++) {
    const source = Array.from({ length: 12 }, () => rng.normal());
    for (let i = 0; i < 12; i++) {
      const value = 3 + source.reduce((sum, s, k) => sum + s * mixing[i * 12 + k]!, 0);
      const [c, pixel] = [Math.floor(i / 4), i % 4];
      result[r * WIDTH + c * 8 + pixel] = value;
      result[r * WIDTH + c * 8 + 4 + pixel] = value;
    }
  }
  return result;
}

/** Features [n][hidden] of the embedding, by the definition of the convolution. */
function features(weight: Float32Array, rows: Float32Array, hidden: number): number[][] {
  return Array.from({ length: rows.length / WIDTH }, (_, r) =>
    Array.from({ length: hidden }, (_, o) => {
      let sum = 0;
      for (let i = 0; i < WIDTH; i++) sum += weight[o * WIDTH + i]! * rows[r * WIDTH + i]!;
      return sum;
    }),
  );
}

const average = (values: number[]) => values.reduce((sum, v) => sum + v, 0) / values.length;

describe('whitenedPatchEmbedding', () => {
  const rows = patches(1001); // no multiple of the rows handled at once
  const { weight, mean } = whitenedPatchEmbedding(rows, vision, new Rng(1));
  const embedded = features(weight.data, rows, 8);

  test('features have identity covariance', () => {
    for (let a = 0; a < 8; a++) {
      for (let b = 0; b < 8; b++) {
        const covariance = average(embedded.map((f) => (f[a]! - mean[a]!) * (f[b]! - mean[b]!)));
        expect(covariance).toBeCloseTo(a === b ? 1 : 0, 2);
      }
    }
  });

  test('the mean reported is the mean of the features', () => {
    for (let a = 0; a < 8; a++) expect(average(embedded.map((f) => f[a]!))).toBeCloseTo(mean[a]!, 3);
  });

  test('both frames share the weight evenly', () => {
    const frame = (o: number, c: number, t: number) =>
      weight.data.slice(o * WIDTH + c * 8 + t * 4, o * WIDTH + c * 8 + t * 4 + 4);
    expect(frame(5, 2, 0)).toEqual(frame(5, 2, 1));
  });

  test('more features than pixels: unit variance on average', () => {
    const wide = { ...vision, hiddenSize: 400 };
    const result = whitenedPatchEmbedding(rows, wide, new Rng(2));
    const all = features(result.weight.data, rows, 400);
    const variances = Array.from({ length: 400 }, (_, a) =>
      average(all.map((f) => (f[a]! - result.mean[a]!) ** 2)),
    );
    expect(average(variances)).toBeCloseTo(1, 1);
  });

  test('constant pixels stay silent instead of being blown up', () => {
    const flat = rows.map((value, i) => (i % WIDTH < 8 ? 1 : value)); // one colour is constant
    const result = whitenedPatchEmbedding(flat, vision, new Rng(3));
    const largest = Math.max(...features(result.weight.data, flat, 8).flat().map(Math.abs));
    expect(largest).toBeLessThan(100); // 1 / sqrt(epsilon) is about 32, times a value of 1
  });

  test.each([
    ['one patch', new Float32Array(WIDTH)],
    ['a cut row', new Float32Array(3 * WIDTH - 1)],
    ['patches that are no numbers', new Float32Array(4 * WIDTH).fill(Number.NaN)],
  ])('%s is refused', (_, broken) => {
    expect(() => whitenedPatchEmbedding(broken, vision, new Rng(1))).toThrow(InputError);
  });
});

test('whitenPatchEmbedding centres through the bias of the first block', () => {
  const config = tinyConfig().vision;
  const values = initialValues(tinyConfig(), new Rng(1));
  const rows = patches(500);
  whitenPatchEmbedding(values, rows, config, new Rng(4));
  const { mean } = whitenedPatchEmbedding(rows, config, new Rng(4).fork('rotation'));
  const bias = values.get('visual.blocks.0.attn.proj.bias')!.data;
  const offsets = Array.from(bias, (b, i) => b + mean[i]!);
  // What is left is the random offset of deviation 0.5: 16 draws within 4 deviations, not all tiny.
  expect(Math.max(...offsets.map(Math.abs))).toBeLessThan(2);
  expect(Math.sqrt(average(offsets.map((o) => o * o)))).toBeGreaterThan(0.2);
});
