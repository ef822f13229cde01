import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RgbImage, Rng } from '../../src/core/index.ts';
import { mirrorImage } from '../../src/data/index.ts';
import { startEngine, stopEngine, tf } from '../../src/engine/index.ts';
import {
  createModel,
  disposeImageFeatures,
  encodeImageFeatures,
  initialValues,
  loadModelFormat,
  preprocess,
  type VisionLanguageModel,
} from '../../src/model/index.ts';
import { PictureFeatures } from '../../src/train/picture-features.ts';

const PRESET = fileURLToPath(new URL('../../models/qwen2.5-vl-mini', import.meta.url));
/** 56 x 56: 16 patches of 1176 floats, 4 tokens of 128. */
const PICTURE_BYTES = 16 * 1176 * 4 + 4 * 128 * 4;

let model: VisionLanguageModel;
let images: RgbImage[];
beforeAll(async () => {
  await startEngine({ threads: 2 });
  const format = await loadModelFormat(PRESET);
  model = createModel(format, initialValues(format.config, new Rng(1)));
  const rng = new Rng(2);
  images = Array.from({ length: 4 }, () => ({
    width: 56,
    height: 56,
    data: Uint8Array.from({ length: 56 * 56 * 3 }, () => rng.integer(256)),
  }));
});
afterAll(stopEngine);

/** The features of each record's picture in one step. */
async function step(cache: PictureFeatures, records: readonly number[], flip = false, seed = 1) {
  const rng = new Rng(seed);
  const pictures = records.map((record) => cache.picture(record, images[record]!, flip, rng));
  const features = await cache.of(pictures);
  return pictures.map((picture) => [...features.get(picture)!.dataSync()]);
}

function encoded(image: RgbImage): number[] {
  const picture = preprocess(image, model.processor);
  const features = encodeImageFeatures(model, [picture]);
  const values = [...features.get(picture)!.dataSync()];
  disposeImageFeatures(features);
  return values;
}

describe('features of pictures that stay the same', () => {
  it('are those of the picture alone, whatever else is in the step, and are encoded once', async () => {
    const cache = new PictureFeatures(model, 2 ** 30);
    const first = await step(cache, [0, 1, 2]);
    const second = await step(cache, [2, 3, 0]);
    expect(first).toEqual([0, 1, 2].map((record) => encoded(images[record]!)));
    expect(second).toEqual([2, 3, 0].map((record) => encoded(images[record]!)));
    expect(cache.counts).toEqual({ encoded: 4, kept: 2 });
    cache.dispose();
  });

  it('of a mirrored picture are its own', async () => {
    const cache = new PictureFeatures(model, 2 ** 30);
    const sides = await Promise.all([1, 2, 3, 4, 5, 6].map((seed) => step(cache, [0], true, seed)));
    const plain = encoded(images[0]!);
    const mirrored = encoded(mirrorImage(images[0]!));
    const rngs = [1, 2, 3, 4, 5, 6].map((seed) => new Rng(seed).uniform() < 0.5);
    expect(new Set(rngs).size).toBe(2);
    expect(sides.map(([values]) => values)).toEqual(rngs.map((turned) => (turned ? mirrored : plain)));
    expect(cache.counts).toEqual({ encoded: 2, kept: 4 });
    cache.dispose();
  });

  it('leave when there is no room, the least recently used first, and give their tensors back', async () => {
    const before = tf.memory().numTensors;
    const cache = new PictureFeatures(model, 2.5 * PICTURE_BYTES);
    for (const record of [0, 1, 0, 2]) await step(cache, [record]);
    expect(tf.memory().numTensors).toBe(before + 2);
    await step(cache, [0]);
    expect(cache.counts).toEqual({ encoded: 3, kept: 2 });
    await step(cache, [1]);
    expect(cache.counts).toEqual({ encoded: 4, kept: 2 });
    cache.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });

  it('of one step are kept together even beyond the room', async () => {
    const cache = new PictureFeatures(model, 1);
    expect(await step(cache, [0, 1, 2, 3])).toEqual(images.map(encoded));
    cache.dispose();
  });
});
