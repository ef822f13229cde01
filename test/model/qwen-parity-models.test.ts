/** Against results recorded from the transformers library by scripts/reference/record-qwen-parity.py. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEngine, stopEngine, tf } from '../../src/engine/index.ts';
import {
  type Batch,
  collate,
  crossEntropy,
  encodeImages,
  forward,
  languageHead,
  multimodalPositions,
} from '../../src/model/index.ts';
import {
  gridsOf,
  loadParityModel,
  PARITY_MODELS,
  type ParityModel,
  paritySequences,
  relativeDifference,
  unpacked,
  WITHOUT_PICTURES,
} from './parity-reference.ts';

/** A norm's epsilon of 1e-5 instead of 1e-6 shows from 4e-5 on; rounding stays below 1e-5. */
const LOGIT_TOLERANCE = 3e-5;

const cases = PARITY_MODELS.flatMap((name) => [
  [name, 'cpu' as const],
  [name, 'onnx' as const],
]) as [string, 'cpu' | 'onnx'][];

describe.each(cases)('%s equals the transformers library, %s', (name, backend) => {
  let loaded: ParityModel;
  let batch: Batch;

  beforeAll(async () => {
    await startEngine({ backend, ...(backend === 'onnx' ? { threads: 2 } : {}) });
    loaded = await loadParityModel(name);
    batch = collate(paritySequences(loaded), loaded.model.config);
  });
  afterAll(() => stopEngine());

  test('image sizes', () => {
    expect(loaded.images.map(({ grid }) => [1, grid.h, grid.w])).toEqual(loaded.reference.grids);
  });

  test('positions and rope deltas', () => {
    const own = paritySequences(loaded).map(({ tokenIds, images }) =>
      multimodalPositions(tokenIds, gridsOf(images), loaded.model.config),
    );
    expect(own.map(({ positions }) => [...positions])).toEqual(
      loaded.reference.sequences.map(({ positions }) => positions.flat()),
    );
    expect(own.map(({ ropeDelta }) => ropeDelta)).toEqual(
      loaded.reference.sequences.map(({ ropeDelta }) => ropeDelta),
    );
  });

  if (!WITHOUT_PICTURES.includes(name)) {
    test('image features', () => {
      const differences = loaded.images.map((image, i) => {
        const sequence = {
          tokenIds: [1, ...new Array<number>((image.grid.h * image.grid.w) / 4).fill(60)],
          roles: [
            'prompt' as const,
            ...new Array<'prompt'>((image.grid.h * image.grid.w) / 4).fill('prompt'),
          ],
          images: [image],
        };
        const alone = collate([sequence], loaded.model.config);
        const features = tf.tidy(() => encodeImages(loaded.model, alone.images)!.dataSync());
        return relativeDifference(features, unpacked(loaded.reference.features[i]!));
      });
      expect(Math.max(...differences)).toBeLessThan(LOGIT_TOLERANCE);
    });
  }

  test('logits of every token of a padded batch', () => {
    const { hiddenSize, vocabularySize } = loaded.model.config.text;
    const logits = tf.tidy(() => {
      const hidden = forward(loaded.model, batch);
      const flat = tf.reshape(hidden, [batch.size * batch.length, hiddenSize]) as tf.Tensor2D;
      return languageHead(loaded.model.parameters, loaded.model.config.text, flat).dataSync();
    });
    const differences = loaded.reference.sequences.map((sequence, i) => {
      const expected = unpacked(sequence.logits);
      const at = i * batch.length * vocabularySize;
      return relativeDifference(logits.subarray(at, at + expected.length), expected);
    });
    expect(Math.max(...differences)).toBeLessThan(LOGIT_TOLERANCE);
  });

  test('loss and gradients', () => {
    const count = batch.actions.count;
    const gradients = new Map<string, Float32Array>();
    let loss = Number.NaN;
    tf.tidy(() => {
      const { value, grads } = tf.variableGrads(() => tf.div(crossEntropy(loaded.model, batch).sum, count));
      loss = value.dataSync()[0]!;
      for (const key of Object.keys(loaded.reference.gradients)) {
        const gradient = grads[loaded.model.parameters.get(key)!.name]!;
        gradients.set(key, gradient.dataSync().slice() as Float32Array);
      }
    });
    expect(loss / loaded.reference.loss).toBeCloseTo(1, 5);
    const differing = Object.entries(loaded.reference.gradients).flatMap(([key, { norm, step, values }]) => {
      const own = gradients.get(key)!;
      const error = Math.max(
        relativeDifference(
          own.filter((_, i) => i % step === 0),
          unpacked(values),
        ),
        Math.abs(Math.hypot(...own) / norm - 1),
      );
      return error < 1e-3 ? [] : [`${key}: ${error}`];
    });
    expect(differing).toEqual([]);
  });
});
