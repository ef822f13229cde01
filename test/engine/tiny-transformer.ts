import { tf } from '../../src/engine/index.ts';
import { spread } from './kernels/kernel-case.ts';

/** A decoder with everything that training one exercises: RMSNorm, RoPE, grouped queries, SwiGLU, tied head. */
export const SIZES = { layers: 2, hidden: 32, heads: 4, kvHeads: 2, headDim: 8, inner: 48, vocabulary: 50 };

export interface Batch {
  /** Token ids [batch, time] and the ids that follow them. */
  tokens: tf.Tensor2D;
  targets: tf.Tensor2D;
}

export function makeParameters(): Map<string, tf.Variable> {
  const { layers, hidden, heads, kvHeads, headDim, inner, vocabulary } = SIZES;
  const shapes: [string, number[]][] = [
    ['embedding', [vocabulary, hidden]],
    ['norm', [hidden]],
  ];
  for (let layer = 0; layer < layers; layer++)
    shapes.push(
      [`${layer}.norm1`, [hidden]],
      [`${layer}.query`, [hidden, heads * headDim]],
      [`${layer}.key`, [hidden, kvHeads * headDim]],
      [`${layer}.value`, [hidden, kvHeads * headDim]],
      [`${layer}.output`, [heads * headDim, hidden]],
      [`${layer}.norm2`, [hidden]],
      [`${layer}.gate`, [hidden, inner]],
      [`${layer}.up`, [hidden, inner]],
      [`${layer}.down`, [inner, hidden]],
    );
  return new Map(
    shapes.map(([name, shape], i) => {
      const [low, high] = shape.length === 1 ? [0.9, 1.1] : [-0.25, 0.25];
      const { values } = spread(low!, high!, shape, 1000 * i);
      return [name, tf.tidy(() => tf.variable(tf.tensor([...values], shape)))];
    }),
  );
}

function rmsNorm(x: tf.Tensor, gain: tf.Tensor): tf.Tensor {
  return tf.mul(tf.mul(x, tf.rsqrt(tf.add(tf.mean(tf.square(x), -1, true), 1e-6))), gain);
}

function rotate(x: tf.Tensor, cos: tf.Tensor, sin: tf.Tensor): tf.Tensor {
  const [first, second] = tf.split(x, 2, -1);
  return tf.add(tf.mul(x, cos), tf.mul(tf.concat([tf.neg(second!), first!], -1), sin));
}

function rotationTables(time: number): { cos: tf.Tensor; sin: tf.Tensor } {
  const { headDim } = SIZES;
  const half = headDim / 2;
  const angles = Array.from({ length: time * headDim }, (_, i) => {
    const position = Math.floor(i / headDim);
    return position / 10000 ** ((i % half) / half);
  });
  const table = (f: (angle: number) => number): tf.Tensor => tf.tensor(angles.map(f), [time, headDim]);
  return { cos: table(Math.cos), sin: table(Math.sin) };
}

/** Mean cross entropy of the next token. */
export function loss(parameters: ReadonlyMap<string, tf.Tensor>, { tokens, targets }: Batch): tf.Scalar {
  const { layers, heads, kvHeads, headDim } = SIZES;
  const [batch, time] = tokens.shape;
  const of = (name: string): tf.Tensor => parameters.get(name)!;
  const { cos, sin } = rotationTables(time);
  const future = tf.greater(tf.range(0, time).reshape([1, time]), tf.range(0, time).reshape([time, 1]));
  const split = (x: tf.Tensor, count: number): tf.Tensor =>
    tf.transpose(tf.reshape(x, [batch, time, count, headDim]), [0, 2, 1, 3]);

  let x = tf.gather(of('embedding'), tf.reshape(tokens, [batch * time]));
  for (let layer = 0; layer < layers; layer++) {
    const h = rmsNorm(x, of(`${layer}.norm1`));
    const query = rotate(split(tf.matMul(h, of(`${layer}.query`)), heads), cos, sin);
    const key = rotate(split(tf.matMul(h, of(`${layer}.key`)), kvHeads), cos, sin);
    const value = split(tf.matMul(h, of(`${layer}.value`)), kvHeads);
    // The queries that share a key head are rows of one matrix.
    const grouped = tf.reshape(query, [batch, kvHeads, (heads / kvHeads) * time, headDim]);
    const scores = tf.mul(tf.matMul(grouped, key, false, true), 1 / Math.sqrt(headDim));
    const weights = tf.softmax(tf.where(tf.tile(future, [heads / kvHeads, 1]), tf.fill([1], -1e9), scores));
    const mixed = tf.reshape(tf.matMul(weights, value), [batch, heads, time, headDim]);
    const merged = tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [batch * time, heads * headDim]);
    x = tf.add(x, tf.matMul(merged, of(`${layer}.output`)));
    const h2 = rmsNorm(x, of(`${layer}.norm2`));
    const gate = tf.matMul(h2, of(`${layer}.gate`));
    const activated = tf.mul(tf.mul(gate, tf.sigmoid(gate)), tf.matMul(h2, of(`${layer}.up`)));
    x = tf.add(x, tf.matMul(activated, of(`${layer}.down`)));
  }
  const logits = tf.matMul(rmsNorm(x, of('norm')), of('embedding'), false, true);
  const logProbabilities = tf.logSoftmax(logits as tf.Tensor2D);
  const chosen = tf.oneHot(tf.reshape(targets, [batch * time]), SIZES.vocabulary);
  return tf.neg(tf.mean(tf.sum(tf.mul(logProbabilities, chosen), -1))) as tf.Scalar;
}
