import { ConfigError } from '../core/index.ts';
import { tf } from '../engine/index.ts';
import type { Network } from './forward.ts';
import { disposeImageFeatures, encodeImageFeatures, type ImageFeatures } from './generate-images.ts';
import { lastLogits } from './generate-prefill.ts';
import { samplingLogits } from './log-probabilities.ts';
import { collate, type Sequence } from './sequence.ts';

export interface LastTokenOptions {
  /** Logits are divided by this. Default 1. */
  temperature?: number;
  /** Tokens to be given probability 0. Default none. */
  bannedTokenIds?: readonly number[];
  /** Embeddings of the sequences' images; by default they are computed here, once per distinct image. */
  imageFeatures?: ImageFeatures;
  /** Sequences run together. Default 32. */
  batchSize?: number;
}

/**
 * Log-probabilities in nats of every token as continuation of each sequence, [vocabulary] each; for expected
 * scores from the probabilities of digits, for instance.
 */
export async function lastTokenLogProbabilities(
  network: Network,
  sequences: readonly Sequence[],
  options: LastTokenOptions = {},
): Promise<Float32Array[]> {
  const { batchSize = 32, imageFeatures } = options;
  if (!Number.isInteger(batchSize) || batchSize < 1)
    throw new ConfigError(`batchSize is ${batchSize}, allowed is a whole number from 1 on`);
  const images = new Set(sequences.flatMap((sequence) => sequence.images));
  const features = imageFeatures ?? encodeImageFeatures(network, images);
  const results: Float32Array[] = [];
  try {
    for (let first = 0; first < sequences.length; first += batchSize) {
      const batch = collate(sequences.slice(first, first + batchSize), network.config);
      const scores = tf.tidy(() =>
        tf.logSoftmax(samplingLogits(lastLogits(network, batch, features), options), 1),
      );
      const values = (await scores.data()) as Float32Array;
      scores.dispose();
      const width = network.config.text.vocabularySize;
      for (let b = 0; b < batch.size; b++) results.push(values.slice(b * width, (b + 1) * width));
    }
  } finally {
    if (imageFeatures === undefined) disposeImageFeatures(features);
  }
  return results;
}
