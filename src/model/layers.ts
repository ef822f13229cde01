import { rmsNorm as fusedRmsNorm, tf } from '../engine/index.ts';
import { adapterTerm } from './lora/adapter.ts';
import { type Parameters, parameter } from './parameters.ts';

/**
 * x W^T + b for x [n, in] and a Hugging Face weight [out, in], and what an adapter adds; bias and adapter are used
 * where the model has them.
 */
export function linear(parameters: Parameters, name: string, x: tf.Tensor2D): tf.Tensor2D {
  const weight = parameter(parameters, `${name}.weight`) as tf.Tensor2D;
  const product: tf.Tensor2D = tf.matMul(x, weight, false, true);
  const bias = parameters.get(`${name}.bias`);
  const result = bias === undefined ? product : (tf.add(product, bias) as tf.Tensor2D);
  const { adapter } = parameters;
  const change = adapter === undefined ? undefined : adapterTerm(adapter, name, x);
  return change === undefined ? result : tf.add(result, change);
}

/** x / sqrt(mean(x^2) + epsilon) * gain over the last axis (Zhang & Sennrich 2019). */
export function rmsNorm(parameters: Parameters, name: string, x: tf.Tensor2D, epsilon: number): tf.Tensor2D {
  return fusedRmsNorm(x, parameter(parameters, `${name}.weight`) as tf.Tensor1D, epsilon);
}

/** (x - mean(x)) / sqrt(var(x) + epsilon) * gain + shift over the last axis (Ba, Kiros & Hinton 2016). */
export function layerNorm(
  parameters: Parameters,
  name: string,
  x: tf.Tensor2D,
  epsilon: number,
): tf.Tensor2D {
  const centred = tf.sub(x, tf.mean(x, -1, true));
  const scale = tf.rsqrt(tf.add(tf.mean(tf.square(centred), -1, true), epsilon));
  const gained = tf.mul(tf.mul(centred, scale), parameter(parameters, `${name}.weight`));
  return tf.add(gained, parameter(parameters, `${name}.bias`));
}

/** down(silu(gate(x)) * up(x)), the gated MLP of both towers of Qwen2.5-VL (Shazeer 2020). */
export function swiGlu(parameters: Parameters, name: string, x: tf.Tensor2D): tf.Tensor2D {
  const gate = linear(parameters, `${name}.gate_proj`, x);
  const up = linear(parameters, `${name}.up_proj`, x);
  return linear(parameters, `${name}.down_proj`, tf.mul(tf.mul(gate, tf.sigmoid(gate)), up));
}

/** fc2(u sigmoid(1.702 u)) with u = fc1(x), the MLP of Qwen2-VL's tower: GELU in its sigmoid form (Hendrycks & Gimpel 2016). */
export function quickGelu(parameters: Parameters, name: string, x: tf.Tensor2D): tf.Tensor2D {
  const inner = linear(parameters, `${name}.fc1`, x);
  return linear(parameters, `${name}.fc2`, tf.mul(inner, tf.sigmoid(tf.mul(inner, 1.702))));
}

/** Rotary tables with cos and sin of full head size; the first half of sin carries a minus sign. */
export interface Rotary<T> {
  cos: T;
  sin: T;
}

/** The tables [n, headSize] without what they hold twice, as the engine's `rotate` takes them: [n, headSize / 2]. */
export function halfTables({ cos, sin }: Rotary<tf.Tensor>): Rotary<tf.Tensor2D> {
  const size = cos.shape[cos.rank - 1]!;
  const rows = cos.size / size;
  const half = (table: tf.Tensor, begin: number): tf.Tensor2D =>
    tf.slice(tf.reshape(table, [rows, size]) as tf.Tensor2D, [0, begin], [rows, size / 2]);
  return { cos: half(cos, 0), sin: half(sin, size / 2) };
}

/**
 * Softmax attention. Groups of query heads share a key-value head: instead of repeating keys, the queries of
 * a group are stacked along the time axis.
 *
 * @param q [B, heads, T, D] @param k [B, keyValueHeads, S, D] @param v like k
 * @param mask added to the scores, [T, S] or [B, T, S]; about -1e9 where attention is forbidden
 * @returns [B, heads, T, D]
 */
export function attention(
  q: tf.Tensor4D,
  k: tf.Tensor4D,
  v: tf.Tensor4D,
  mask?: tf.Tensor2D | tf.Tensor3D,
): tf.Tensor4D {
  const [batch, heads, length, size] = q.shape;
  const [, shared, keys] = k.shape;
  const group = heads / shared;
  const scaled = tf.mul(q, 1 / Math.sqrt(size));
  const stacked = tf.reshape(scaled, [batch, shared, group * length, size]);
  let scores: tf.Tensor = tf.matMul(stacked, k, false, true);
  if (mask !== undefined) {
    const spread = mask.rank === 2 ? [1, 1, 1, length, keys] : [batch, 1, 1, length, keys];
    scores = tf.add(tf.reshape(scores, [batch, shared, group, length, keys]), tf.reshape(mask, spread));
    scores = tf.reshape(scores, [batch, shared, group * length, keys]);
  }
  return tf.reshape(tf.matMul(tf.softmax(scores, -1), v), [batch, heads, length, size]);
}
