import * as tf from '@tensorflow/tfjs';
import { EngineError } from '../../core/index.ts';
import { reshape } from '../build.ts';
import { type GraphValue, int64Vector, MICROSOFT_DOMAIN, operation } from '../node.ts';
import { graphValueOf, lazyTensor } from '../trace.ts';

/** Keys and values of one layer, [rows, keyValueHeads, slots, D] each. */
export interface KeyValueCache {
  keys: tf.Tensor4D;
  values: tf.Tensor4D;
}

/** What the rows attend to besides their own recent tokens. It never changes, and so is never copied. */
export interface SharedPrefix extends KeyValueCache {
  /** [P, 1, 1, T], added to the scores: about -1e9 at padding, else 0. */
  mask: tf.Tensor4D;
}

/**
 * Attention of one new token per row over a prefix and the row's recent tokens, the new one included. P
 * prefixes of T slots serve B rows, B / P neighbouring rows each. The recent cache grows by a slot; in a loop
 * its traced extent means nothing. Only on the backend onnx.
 *
 * Composed of products over all rows and heads that share keys. ONNX Runtime's GroupQueryAttention multiplies
 * each row of each head by itself, which takes more than twice as long, and copies the whole cache each time.
 *
 * @param q [B, heads, 1, D], rotated @param k new keys [B, keyValueHeads, 1, D], rotated @param v like k
 * @param recent [B, keyValueHeads, R, D], R from 0
 */
export function cachedAttention(
  q: tf.Tensor4D,
  k: tf.Tensor4D,
  v: tf.Tensor4D,
  prefix: SharedPrefix,
  recent: KeyValueCache,
): { mixed: tf.Tensor4D; recent: KeyValueCache } {
  const [batch, heads, length, size] = q.shape;
  const [prefixes, shared, slots] = prefix.keys.shape;
  if (length !== 1)
    throw new EngineError(`cached attention takes one new token per row, got ${length}`, {
      hint: 'run longer pieces through the composed attention',
    });
  if (batch % prefixes !== 0)
    throw new EngineError(`${prefixes} prefixes cannot serve ${batch} rows in equal shares`);
  const group = heads / shared;
  const samples = batch / prefixes;
  const rowWise: Shape = [batch, shared, group];
  const keys = appended(graphValueOf(recent.keys), graphValueOf(k));
  const values = appended(graphValueOf(recent.values), graphValueOf(v));
  const recentSlots = keys.shape[2]!;

  const queries = graphValueOf(tf.reshape(q, [...rowWise, size]));
  const onPrefix = times(byPrefix(queries, prefixes, samples), graphValueOf(prefix.keys), true);
  const masked = operation('Add', [onPrefix, graphValueOf(prefix.mask)], 'float32', onPrefix.shape);
  const onRecent = times(queries, keys, true);
  const all: Shape = [...rowWise, slots + recentSlots];
  const scores = operation('Concat', [byRow(masked, prefixes, samples), onRecent], 'float32', all, {
    attributes: { axis: 3 },
  });
  const weights = operation('Softmax', [scores], 'float32', all, { attributes: { axis: 3 } });
  const prefixWeights = slotsOf(weights, 0, slots, slots);
  const fromPrefix = times(byPrefix(prefixWeights, prefixes, samples), graphValueOf(prefix.values), false);
  const fromRecent = times(slotsOf(weights, slots, LAST_SLOT, recentSlots), values, false);
  const mixed = operation('Add', [byRow(fromPrefix, prefixes, samples), fromRecent], 'float32', [
    ...rowWise,
    size,
  ]);
  return {
    mixed: tf.reshape(lazyTensor(mixed), [batch, heads, 1, size]),
    recent: { keys: lazyTensor(keys) as tf.Tensor4D, values: lazyTensor(values) as tf.Tensor4D },
  };
}

type Shape = readonly number[];

/** An end that ONNX's Slice cuts down to the extent there is. */
const LAST_SLOT = 2 ** 31 - 1;

/** The new slot behind those there are. The declared extent is that of before, as a loop's state demands. */
function appended(cache: GraphValue, slot: GraphValue): GraphValue {
  const shape = cache.shape.map((extent, axis) => (axis === 2 ? Math.max(extent, 1) : extent));
  return operation('Concat', [cache, slot], 'float32', shape, { attributes: { axis: 2 } });
}

/** Scores of queries with keys, scaled by 1 / sqrt(D), or weights times values. */
function times(a: GraphValue, b: GraphValue, areKeys: boolean): GraphValue {
  const shape = [...a.shape.slice(0, 3), areKeys ? b.shape[2]! : b.shape[3]!];
  if (!areKeys) return operation('MatMul', [a, b], 'float32', shape);
  const alpha = { float: 1 / Math.sqrt(b.shape[3]!) };
  return operation('FusedMatMul', [a, b], 'float32', shape, {
    domain: MICROSOFT_DOMAIN,
    attributes: { transA: 0, transB: 1, alpha },
  });
}

function slotsOf(weights: GraphValue, begin: number, end: number, extent: number): GraphValue {
  const inputs = [weights, int64Vector([begin]), int64Vector([end]), int64Vector([3])];
  return operation('Slice', inputs, 'float32', [...weights.shape.slice(0, 3), extent]);
}

/** [B, shared, group, n] -> [P, shared, samples * group, n]: the rows of a prefix become rows of one matrix. */
function byPrefix(x: GraphValue, prefixes: number, samples: number): GraphValue {
  const [, shared, group, n] = x.shape as [number, number, number, number];
  if (samples === 1) return x;
  const apart = reshape(x, [prefixes, samples, shared, group * n]);
  return reshape(swapped(apart), [prefixes, shared, samples * group, n]);
}

/** The inverse of `byPrefix`. */
function byRow(x: GraphValue, prefixes: number, samples: number): GraphValue {
  const [, shared, stacked, n] = x.shape as [number, number, number, number];
  if (samples === 1) return x;
  const group = stacked / samples;
  const apart = reshape(x, [prefixes, shared, samples, group * n]);
  return reshape(swapped(apart), [prefixes * samples, shared, group, n]);
}

function swapped(x: GraphValue): GraphValue {
  const [a, b, c, d] = x.shape as [number, number, number, number];
  return operation('Transpose', [x], 'float32', [a, c, b, d], { attributes: { perm: [0, 2, 1, 3] } });
}
