/** Against logits recorded from the transformers library by scripts/reference/record-qwen.py. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TokenRole } from '../../src/core/index.ts';
import { startEngine, stopEngine, tf } from '../../src/engine/index.ts';
import {
  collate,
  encodeImages,
  forward,
  type ImageProcessorConfig,
  languageHead,
  loadParameters,
  multimodalPositions,
  type Network,
  type ProcessedImage,
  preprocess,
  readModelConfig,
  readProcessorConfig,
  readWeights,
} from '../../src/model/index.ts';

interface Reference {
  images: { height: number; width: number; rgb: number[] }[];
  grids: [number, number, number][];
  patchRows: { row: number; values: number[] }[];
  features: number[];
  tokenIds: number[][];
  positions: [number[], number[], number[]][];
  ropeDeltas: number[];
  logits: number[][];
}

const folder = new URL('./fixtures/qwen-tiny-random/', import.meta.url).pathname;
let reference: Reference;
let network: Network;
let processor: ImageProcessorConfig;
let images: ProcessedImage[];

async function load(): Promise<void> {
  reference = JSON.parse(await readFile(`${folder}reference.json`, 'utf8')) as Reference;
  const config = await readModelConfig(`${folder}config.json`);
  network = { config, parameters: loadParameters(config, await readWeights(folder, config)) };
  processor = await readProcessorConfig(`${folder}preprocessor_config.json`);
  images = reference.images.map(({ height, width, rgb }) =>
    preprocess({ height, width, data: Uint8Array.from(rgb) }, processor),
  );
}

const sequences = () =>
  reference.tokenIds.map((tokenIds, i) => ({
    tokenIds,
    roles: tokenIds.map((): TokenRole => 'prompt'),
    images: [images[i]!],
  }));

function largestDifference(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  expect(actual.length).toBe(expected.length);
  let largest = 0;
  for (let i = 0; i < expected.length; i++) {
    largest = Math.max(largest, Math.abs(actual[i]! - expected[i]!));
  }
  return largest;
}

describe.each(['cpu', 'onnx'] as const)(
  'a random Qwen2.5-VL equals the transformers library, %s',
  (backend) => {
    beforeAll(async () => {
      await startEngine({ backend, ...(backend === 'onnx' ? { threads: 2 } : {}) });
      await load();
    });
    afterAll(() => stopEngine());

    test('image sizes', () => {
      expect(images.map(({ grid }) => [1, grid.h, grid.w])).toEqual(reference.grids);
    });

    test('pixel values, with and without resizing', () => {
      const all = Float32Array.from(images.flatMap(({ patches }) => [...patches]));
      for (const { row, values } of reference.patchRows) {
        const at = row * values.length;
        expect(largestDifference(all.subarray(at, at + values.length), values)).toBeLessThan(1e-5);
      }
    });

    test('positions and rope deltas', () => {
      reference.tokenIds.forEach((tokenIds, i) => {
        const result = multimodalPositions(tokenIds, [images[i]!.grid], network.config);
        expect([...result.positions]).toEqual(reference.positions[i]!.flat());
        expect(result.ropeDelta).toBe(reference.ropeDeltas[i]);
      });
    });

    test('image features of two grids that windows do not divide', () => {
      const batch = collate(sequences(), network.config);
      const features = tf.tidy(() => encodeImages(network, batch.images)!.dataSync());
      expect(largestDifference(features, reference.features)).toBeLessThan(1e-4);
    });

    test('logits of a padded batch', () => {
      const batch = collate(sequences(), network.config);
      const { hiddenSize, vocabularySize } = network.config.text;
      const logits = tf.tidy(() => {
        const hidden = forward(network, batch);
        const flat = tf.reshape(hidden, [batch.size * batch.length, hiddenSize]) as tf.Tensor2D;
        return languageHead(network.parameters, network.config.text, flat).dataSync();
      });
      reference.logits.forEach((expected, i) => {
        const at = i * batch.length * vocabularySize;
        expect(largestDifference(logits.subarray(at, at + expected.length), expected)).toBeLessThan(1e-4);
      });
    });
  },
);
