import { type KeyValueCache, tf } from '../engine/index.ts';
import { attention } from './layers.ts';
import type { Batch, SharedPrefix } from './sequence.ts';
import type { Attend } from './text.ts';

/**
 * Attention of sequences that go on from prompts which are run once for several of them: each token sees its own
 * prompt, then what stands before it in its own sequence.
 *
 * @param caches of the prompts, one per layer, [P, keyValueHeads, S, D]
 */
export function continuedAttention(
  { size, length }: Batch,
  { batch: prompts, of }: SharedPrefix,
  caches: readonly KeyValueCache[],
): Attend {
  const mask = tf.tensor3d(continuedMask(length, prompts, of), [size, length, prompts.length + length]);
  const chosen = tf.tensor2d(oneHotRows(of, prompts.size), [size, prompts.size]);
  // A product with rows of one 1 copies exactly, and so does its gradient add up; a gather would scatter it.
  const repeated = (cache: tf.Tensor4D): tf.Tensor4D => {
    const [count, heads, width, headSize] = cache.shape;
    const rows = tf.reshape(cache, [count, heads * width * headSize]) as tf.Tensor2D;
    return tf.reshape(tf.matMul(chosen, rows), [size, heads, width, headSize]);
  };
  return (layer, q, k, v) => {
    const { keys, values } = caches[layer]!;
    return attention(q, tf.concat([repeated(keys), k], 2), tf.concat([repeated(values), v], 2), mask);
  };
}

/** [B, T, S + T]: 0 where a token sees, -1e9 where it does not: padding of its prompt, and what comes after it. */
function continuedMask(length: number, prompts: Batch, of: Int32Array): Float32Array {
  const width = prompts.length + length;
  const mask = new Float32Array(of.length * length * width).fill(-1e9);
  of.forEach((prompt, b) => {
    const own = prompts.lengths[prompt]!;
    for (let t = 0; t < length; t++) {
      const row = (b * length + t) * width;
      mask.fill(0, row, row + own);
      mask.fill(0, row + prompts.length, row + prompts.length + t + 1);
    }
  });
  return mask;
}

function oneHotRows(of: Int32Array, count: number): Float32Array {
  const rows = new Float32Array(of.length * count);
  of.forEach((prompt, b) => {
    rows[b * count + prompt] = 1;
  });
  return rows;
}
