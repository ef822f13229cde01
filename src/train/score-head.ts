import type { Rng } from '../core/index.ts';
import { changingScalars, tf } from '../engine/index.ts';
import type { ImageGroup, ProcessedImage } from '../model/index.ts';

/** The middle of the score scale, where the head starts. */
const MIDDLE = 3;

/**
 * A temporary linear head on the mean image token that must tell the score. The score's few digits are a small
 * part of the text loss, so with few pictures a tower learns slowly from them what it should look for; through
 * the head it does so directly. Dropped with the stage.
 *
 * @returns `head.score.weight` [1, hidden] and `head.score.bias` [1]
 */
export function createScoreHead(hiddenSize: number, rng: Rng): Map<string, tf.Variable> {
  const weight = Float32Array.from({ length: hiddenSize }, () => rng.normal(0, 0.02));
  return new Map<string, tf.Variable>([
    ['head.score.weight', tf.variable(tf.tensor2d(weight, [1, hiddenSize]))],
    ['head.score.bias', tf.variable(tf.tensor1d([MIDDLE]))],
  ]);
}

/**
 * Weighted sum of the head's squared errors.
 *
 * @param imageEmbeddings [rows, hidden], as `encodeImages` gives them for the groups
 * @param scoreOf the score of each image in the groups, in [1, 5]
 * @param weight of one image's squared error
 */
export function scoreHeadLoss(
  head: ReadonlyMap<string, tf.Variable>,
  imageEmbeddings: tf.Tensor2D,
  groups: readonly ImageGroup[],
  scoreOf: ReadonlyMap<ProcessedImage, number>,
  weight: number,
): tf.Scalar {
  const hidden = imageEmbeddings.shape[1];
  let row = 0;
  const pooled = groups.map(({ count, plan }) => {
    const tokens = tf.slice(imageEmbeddings, [row, 0], [count * plan.tokens, hidden]);
    row += count * plan.tokens;
    return tf.mean(tf.reshape(tokens, [count, plan.tokens, hidden]), 1) as tf.Tensor2D;
  });
  const predicted = tf.add(
    tf.sum(
      tf.mul(pooled.length === 1 ? pooled[0]! : tf.concat(pooled, 0), head.get('head.score.weight')!),
      -1,
    ),
    head.get('head.score.bias')!,
  );
  const scores = Float32Array.from(
    groups.flatMap(({ images }) => images.map((image) => scoreOf.get(image)!)),
  );
  const errors = tf.squaredDifference(predicted, tf.tensor1d(scores));
  return tf.mul(tf.sum(errors), changingScalars({ weight }).weight) as tf.Scalar;
}
