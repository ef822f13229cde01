import * as tf from '@tensorflow/tfjs';
import { cast } from '../build.ts';
import { type GraphValue, leaf, MICROSOFT_DOMAIN, operation } from '../node.ts';
import { graphValueOf, lazyTensor } from '../trace.ts';
import { runsFused } from './runs-fused.ts';

/**
 * Rotary position embedding (Su 2021) of every head, pairs (i, i + D/2): (a cos - b sin, b cos + a sin). One
 * operator on the backend onnx, composed on others.
 *
 * @param x [B, T, heads, D]
 * @param cos [R, D/2], a row for each token (R = B T) or for each position of every sequence (R = T)
 * @param sin like cos
 */
export function rotate(x: tf.Tensor4D, cos: tf.Tensor2D, sin: tf.Tensor2D): tf.Tensor4D {
  if (!runsFused(x)) return composed(x, cos, sin);
  const turn = tf.customGrad((input, c, s, save) => {
    (save as tf.GradSaveFunc)([c as tf.Tensor, s as tf.Tensor]);
    return {
      value: record(input as tf.Tensor4D, c as tf.Tensor2D, s as tf.Tensor2D),
      // The tables come from positions, which are no parameters.
      gradFunc: (dy, saved) => {
        const [savedCos, savedSin] = saved as [tf.Tensor2D, tf.Tensor2D];
        return [
          record(dy as tf.Tensor4D, savedCos, tf.neg(savedSin)),
          tf.zerosLike(savedCos),
          tf.zerosLike(savedSin),
        ];
      },
    };
  });
  return turn(x, cos, sin) as tf.Tensor4D;
}

function composed(x: tf.Tensor4D, cos: tf.Tensor2D, sin: tf.Tensor2D): tf.Tensor4D {
  const [batch, length, heads, size] = x.shape;
  const table: [number, number, number, number] = [cos.shape[0] / length, length, 1, size / 2];
  const [c, s] = [tf.reshape(cos, table), tf.reshape(sin, table)];
  const half: [number, number, number, number] = [batch, length, heads, size / 2];
  const a = tf.slice(x, [0, 0, 0, 0], half);
  const b = tf.slice(x, [0, 0, 0, size / 2], half);
  const first = tf.sub(tf.mul(a, c), tf.mul(b, s)) as tf.Tensor4D;
  const second = tf.add(tf.mul(b, c), tf.mul(a, s)) as tf.Tensor4D;
  return tf.concat([first, second], 3);
}

function record(x: tf.Tensor4D, cos: tf.Tensor2D, sin: tf.Tensor2D): tf.Tensor4D {
  const [batch, length, heads, size] = x.shape;
  const flat = tf.reshape(x, [batch, length, heads * size]);
  const rotated = operation(
    'RotaryEmbedding',
    [
      graphValueOf(flat),
      cast(tableRows(batch, length, cos.shape[0]), 'int64'),
      graphValueOf(cos),
      graphValueOf(sin),
    ],
    'float32',
    flat.shape,
    { domain: MICROSOFT_DOMAIN, attributes: { num_heads: heads, interleaved: 0 } },
  );
  return tf.reshape(lazyTensor(rotated), [batch, length, heads, size]);
}

const sharedRows = new Map<string, GraphValue>();
const MAX_SHARED_ROWS = 64;

/** Which row of the tables belongs to each token, [B, T]. Equal shapes share one array, fed to the graph. */
function tableRows(batch: number, length: number, rows: number): GraphValue {
  const key = `${batch},${length},${rows}`;
  let value = sharedRows.get(key);
  if (value === undefined) {
    const indices = Int32Array.from({ length: batch * length }, (_, token) => token % rows);
    value = leaf('int32', [batch, length], indices);
    if (sharedRows.size >= MAX_SHARED_ROWS) sharedRows.clear();
    sharedRows.set(key, value);
  }
  return value;
}
