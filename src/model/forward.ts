import { type KeyValueCache, tf } from '../engine/index.ts';
import type { Checkpointing } from './checkpointing.ts';
import type { AnyModelConfig } from './config.ts';
import type { Parameters } from './parameters.ts';
import type { Batch, ImageGroup } from './sequence.ts';
import { continuedAttention } from './shared-prompts.ts';
import { type Attend, causalAttention, embed, languageForward } from './text.ts';
import { requireNoPictures } from './text-only.ts';
import { visionForward } from './vision.ts';

/** The numeric part of a model. */
export interface Network {
  config: AnyModelConfig;
  parameters: Parameters;
}

/** Image embeddings [R, hidden] of all groups in order, each image's tokens in raster order. */
export function encodeImages(
  network: Network,
  groups: readonly ImageGroup[],
  checkpointing?: Checkpointing,
): tf.Tensor2D | undefined {
  const { parameters, config } = network;
  const { vision } = config;
  if (vision === null) {
    requireNoPictures(groups.reduce((sum, { count }) => sum + count, 0));
    return undefined;
  }
  const encoded = groups.map(({ plan, count, patches }) => {
    const rowLength = patches.length / (count * plan.patches);
    const input = tf.tensor2d(patches, [count * plan.patches, rowLength]);
    const tokens = visionForward(parameters, vision, plan, input, checkpointing);
    return tf.reshape(tokens, [count * plan.tokens, config.text.hiddenSize]) as tf.Tensor2D;
  });
  if (encoded.length === 0) return undefined;
  return encoded.length === 1 ? encoded[0]! : tf.concat(encoded, 0);
}

export interface ForwardOptions {
  /** Result of `encodeImages` for this batch, to encode once and use several times. */
  imageEmbeddings?: tf.Tensor2D | undefined;
  /** Default: causal attention over the batch. */
  attend?: Attend;
  /** Keep only the input of each block for the backward pass (`checkpointed`). */
  checkpointing?: Checkpointing | undefined;
}

/**
 * Hidden states [B, T, hidden] of a batch after the final norm. The prompts of a batch that shares them are run once,
 * and their keys and values repeated; they hold its pictures.
 */
export function forward(network: Network, batch: Batch, options: ForwardOptions = {}): tf.Tensor3D {
  const { parameters, config } = network;
  const { size, length, prefix } = batch;
  if (prefix !== undefined && options.attend === undefined) {
    const caches: KeyValueCache[] = [];
    const attend = causalAttention(prefix.batch.length, (layer, keys, values) => {
      caches[layer] = { keys, values };
    });
    const { imageEmbeddings } = options;
    forward(network, prefix.batch, { imageEmbeddings, attend });
    return forward(network, batch, { attend: continuedAttention(batch, prefix, caches) });
  }
  const images = options.imageEmbeddings ?? encodeImages(network, batch.images, options.checkpointing);
  const rows = tf.tensor2d(batch.inputRows, [size, length], 'int32');
  const tables: [number, number, number] = [size, length, config.text.headSize];
  return languageForward(
    parameters,
    config.text,
    embed(parameters, rows, images),
    { cos: tf.tensor3d(batch.cos, tables), sin: tf.tensor3d(batch.sin, tables) },
    options.attend ?? causalAttention(length),
    options.checkpointing,
  );
}
