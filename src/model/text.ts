import { checkpointed, rotate, tf } from '../engine/index.ts';
import type { Checkpointing } from './checkpointing.ts';
import type { TextConfig } from './config.ts';
import { attention, halfTables, linear, type Rotary, rmsNorm, swiGlu } from './layers.ts';
import { type Parameters, parameter } from './parameters.ts';

/**
 * How a layer attends: q [B, heads, T, D], k and v [B, keyValueHeads, T, D], all rotated already, give
 * [B, heads, T, D]. Training, prefill and cached decoding differ in this function alone.
 */
export interface Attend {
  (layer: number, q: tf.Tensor4D, k: tf.Tensor4D, v: tf.Tensor4D, uses?: readonly tf.Tensor[]): tf.Tensor4D;
  /** Tensors that the function holds; equal ones may be given instead (`checkpointed`). */
  uses?: readonly tf.Tensor[];
}

/**
 * The language model between embeddings and head.
 *
 * @param embeddings [B, T, hidden] @param rotary tables [B, T, headSize] (`rotaryTables`)
 * @returns hidden states [B, T, hidden] after the final norm
 */
export function languageForward(
  parameters: Parameters,
  config: TextConfig,
  embeddings: tf.Tensor3D,
  rotary: Rotary<tf.Tensor3D>,
  attend: Attend,
  checkpointing?: Checkpointing,
): tf.Tensor3D {
  const [batch, length, hidden] = embeddings.shape;
  const tables = halfTables(rotary);
  let x = tf.reshape(embeddings, [batch * length, hidden]) as tf.Tensor2D;
  for (let layer = 0; layer < config.layers; layer++) {
    const run = (input: tf.Tensor2D, [cos, sin, ...held]: readonly tf.Tensor[]): tf.Tensor2D => {
      const given = { cos: cos as tf.Tensor2D, sin: sin as tf.Tensor2D };
      return block(parameters, config, layer, batch, input, given, (at, q, k, v) =>
        attend(at, q, k, v, held),
      );
    };
    const uses = [tables.cos, tables.sin, ...(attend.uses ?? [])];
    x =
      checkpointing === undefined
        ? run(x, uses)
        : checkpointed(run, x, uses, checkpointing(`model.layers.${layer}.`));
  }
  const normed = rmsNorm(parameters, 'model.norm', x, config.rmsNormEpsilon);
  return tf.reshape(normed, [batch, length, hidden]);
}

function block(
  parameters: Parameters,
  config: TextConfig,
  layer: number,
  batch: number,
  x: tf.Tensor2D,
  { cos, sin }: Rotary<tf.Tensor2D>,
  attend: Attend,
): tf.Tensor2D {
  const name = `model.layers.${layer}`;
  const length = x.shape[0] / batch;
  const { heads, keyValueHeads, headSize, rmsNormEpsilon } = config;
  const normed = rmsNorm(parameters, `${name}.input_layernorm`, x, rmsNormEpsilon);
  const project = (which: string, count: number): tf.Tensor4D =>
    tf.reshape(linear(parameters, `${name}.self_attn.${which}_proj`, normed), [
      batch,
      length,
      count,
      headSize,
    ]);
  const headsFirst = (t: tf.Tensor4D): tf.Tensor4D => tf.transpose(t, [0, 2, 1, 3]);
  const mixed = attend(
    layer,
    headsFirst(rotate(project('q', heads), cos, sin)),
    headsFirst(rotate(project('k', keyValueHeads), cos, sin)),
    headsFirst(project('v', keyValueHeads)),
  );
  const joined = tf.reshape(headsFirst(mixed), [batch * length, heads * headSize]) as tf.Tensor2D;
  const attended = tf.add(x, linear(parameters, `${name}.self_attn.o_proj`, joined)) as tf.Tensor2D;
  const second = rmsNorm(parameters, `${name}.post_attention_layernorm`, attended, rmsNormEpsilon);
  return tf.add(attended, swiGlu(parameters, `${name}.mlp`, second));
}

/** Receives the rotated keys and the values of each layer, [B, keyValueHeads, T, D]. */
export type KeyValueSink = (layer: number, k: tf.Tensor4D, v: tf.Tensor4D) => void;

/**
 * Causal attention over a right-padded batch, for training and prefill. Padding needs no mask of its own:
 * it lies to the right of every real token, where causality already hides it.
 */
export function causalAttention(length: number, sink?: KeyValueSink): Attend {
  const mask = new Float32Array(length * length);
  for (let i = 0; i < length; i++) mask.fill(-1e9, i * length + i + 1, (i + 1) * length);
  const maskTensor = tf.tensor2d(mask, [length, length]);
  const held = [maskTensor];
  const attend: Attend = (layer, q, k, v, [given] = held) => {
    sink?.(layer, k, v);
    return attention(q, k, v, given as tf.Tensor2D);
  };
  attend.uses = held;
  return attend;
}

/** The parameter that turns hidden states into logits. */
export const headName = ({ tieWordEmbeddings }: TextConfig): string =>
  tieWordEmbeddings ? 'model.embed_tokens.weight' : 'lm_head.weight';

/** Logits [n, vocabulary] of hidden states [n, hidden], through the tied or separate head. */
export function languageHead(parameters: Parameters, config: TextConfig, hidden: tf.Tensor2D): tf.Tensor2D {
  return tf.matMul(hidden, parameter(parameters, headName(config)) as tf.Tensor2D, false, true);
}

/** Up to here (16 MB) putting all embeddings into one table is cheaper than choosing between two. */
const LARGEST_COPIED_TABLE = 2 ** 22;

/**
 * Embeddings [B, T, hidden] of input rows: a row below the vocabulary size is a token id, vocabulary size + r
 * is row r of the image embeddings. One gather serves both, so one scatter serves their gradients; a large table is
 * not copied for that.
 *
 * @param rows int32 [B, T] @param imageEmbeddings [R, hidden], absent in a batch without images
 */
export function embed(parameters: Parameters, rows: tf.Tensor2D, imageEmbeddings?: tf.Tensor2D): tf.Tensor3D {
  const words = parameter(parameters, 'model.embed_tokens.weight') as tf.Tensor2D;
  const [batch, length] = rows.shape;
  const [vocabulary, width] = words.shape;
  const flat = tf.reshape(rows, [batch * length]);
  const shaped = (embedded: tf.Tensor): tf.Tensor3D => tf.reshape(embedded, [batch, length, width]);
  if (imageEmbeddings === undefined) return shaped(tf.gather(words, flat));
  if (words.size <= LARGEST_COPIED_TABLE)
    return shaped(tf.gather(tf.concat([words, imageEmbeddings], 0), flat));
  const whole = (value: number): tf.Scalar => tf.scalar(value, 'int32');
  const image = tf.sub(flat, whole(vocabulary));
  const isImage = tf.greaterEqual(image, whole(0));
  const ofWords = tf.gather(words, tf.minimum(flat, whole(vocabulary - 1)));
  const ofImages = tf.gather(imageEmbeddings, tf.maximum(image, whole(0)));
  return shaped(tf.where(tf.reshape(isImage, [batch * length, 1]), ofImages, ofWords));
}
