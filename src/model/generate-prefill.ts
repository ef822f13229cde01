import { type KeyValueCache, tf } from '../engine/index.ts';
import { forward, type Network } from './forward.ts';
import { batchFeatures, type ImageFeatures } from './generate-images.ts';
import type { Batch } from './sequence.ts';
import { causalAttention, languageHead } from './text.ts';

export interface Prefill {
  /** [P, vocabulary] of the token after each prompt. */
  logits: tf.Tensor2D;
  /** One per layer, [P, keyValueHeads, T, D]; beyond a prompt's own length they hold padding. */
  caches: KeyValueCache[];
}

/** Runs the prompts once, through the very forward pass of training, and keeps keys and values. */
export function prefill(network: Network, batch: Batch, features?: ImageFeatures): Prefill {
  const caches: KeyValueCache[] = [];
  const attend = causalAttention(batch.length, (layer, keys, values) => {
    caches[layer] = { keys, values };
  });
  return { logits: lastLogits(network, batch, features, attend), caches };
}

/** Logits [B, vocabulary] after the last token of each sequence. */
export function lastLogits(
  network: Network,
  batch: Batch,
  features?: ImageFeatures,
  attend = causalAttention(batch.length),
): tf.Tensor2D {
  const { hiddenSize } = network.config.text;
  const imageEmbeddings = features && batchFeatures(batch.images, features);
  const hidden = forward(network, batch, { imageEmbeddings, attend });
  const lastRows = batch.lengths.map((length, b) => b * batch.length + length - 1);
  const flat = tf.reshape(hidden, [batch.size * batch.length, hiddenSize]);
  const last = tf.gather(flat, tf.tensor1d(lastRows, 'int32')) as tf.Tensor2D;
  return languageHead(network.parameters, network.config.text, last);
}
