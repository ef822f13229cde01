import * as tf from '@tensorflow/tfjs';
import { EngineError } from '../../core/index.ts';
import { currentBackend } from '../backend.ts';
import { type GraphValue, MICROSOFT_DOMAIN, operationWithOutputs } from '../node.ts';

/** Keys and values of all earlier tokens of one layer, [B, keyValueHeads, S, D] each. */
export interface KeyValueCache {
  keys: tf.Tensor4D;
  values: tf.Tensor4D;
}

/**
 * Attention of one new token per row over a cache and itself, by ONNX Runtime's GroupQueryAttention, which
 * also writes the new key and value behind the row's last one. Rows may have caches of different length: what
 * lies beyond a row's own length is never read. Only on the backend onnx. No rotation takes place here.
 *
 * @param q [B, heads, 1, D] @param k new keys [B, keyValueHeads, 1, D] @param v like k
 * @param lengths int32 [B], tokens already in the cache of each row
 * @param total int32 scalar, at least max(lengths) + 1; the cache returned is max(total, S) long when it runs,
 *   whatever shape its tensor has while the graph is traced
 */
export function cachedAttention(
  q: tf.Tensor4D,
  k: tf.Tensor4D,
  v: tf.Tensor4D,
  cache: KeyValueCache,
  lengths: tf.Tensor1D,
  total: tf.Scalar,
): { mixed: tf.Tensor4D; cache: KeyValueCache } {
  const backend = currentBackend();
  const [batch, heads, length, size] = q.shape;
  const shared = k.shape[1];
  if (length !== 1)
    throw new EngineError(`cached attention takes one new token per row, got ${length}`, {
      hint: 'run longer pieces through the composed attention',
    });
  const flat = (t: tf.Tensor4D, count: number): GraphValue =>
    backend.graphValue(tf.reshape(t, [batch, 1, count * size]));
  const [mixed, keys, values] = operationWithOutputs(
    'GroupQueryAttention',
    [
      flat(q, heads),
      flat(k, shared),
      flat(v, shared),
      backend.graphValue(cache.keys),
      backend.graphValue(cache.values),
      backend.graphValue(lengths),
      backend.graphValue(total),
    ],
    [
      { dtype: 'float32', shape: [batch, 1, heads * size] },
      { dtype: 'float32', shape: cache.keys.shape },
      { dtype: 'float32', shape: cache.values.shape },
    ],
    {
      domain: MICROSOFT_DOMAIN,
      attributes: { num_heads: heads, kv_num_heads: shared, do_rotary: 0 },
    },
  );
  const tensor = <T extends tf.Tensor>(value: GraphValue): T =>
    tf.engine().makeTensorFromTensorInfo(backend.tensorInfoOf(value)) as T;
  return {
    mixed: tf.reshape(tensor<tf.Tensor3D>(mixed!), [batch, heads, 1, size]),
    cache: { keys: tensor(keys!), values: tensor(values!) },
  };
}
