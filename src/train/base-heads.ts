import type { Rng } from '../core/index.ts';
import { type DistortionType, SCENE_KINDS, TRAINING_DISTORTIONS } from '../data/index.ts';
import { tf } from '../engine/index.ts';

/** Class 0 is the undistorted picture. */
export const HEAD_CLASSES: readonly string[] = ['pristine', ...TRAINING_DISTORTIONS];
const CONTENT_KINDS: readonly string[] = [...SCENE_KINDS, 'photograph'];

/** What the heads are taught about one image: distortions and content, never a quality score. */
export interface HeadTarget {
  /** Strength of each distortion in [0, 5.5], strongest first; empty for a pristine picture. */
  distortions: readonly { type: DistortionType; strength: number }[];
  contentKind: string;
}

/**
 * Linear heads on the mean image token. They make the tower look for distortions before a language model
 * reads it (without them the picture's share of the text loss is too small to learn from), and are dropped
 * with the stage.
 */
export function createHeads(hiddenSize: number, rng: Rng): Map<string, tf.Variable> {
  const head = (name: string, outputs: number): [string, tf.Variable][] => {
    const draw = rng.fork(name);
    const weight = Float32Array.from({ length: outputs * hiddenSize }, () => draw.normal(0, 0.02));
    return [
      [`head.${name}.weight`, tf.variable(tf.tensor2d(weight, [outputs, hiddenSize]))],
      // Not exactly zero: an all-equal tensor would be a constant of the compiled graph.
      [
        `head.${name}.bias`,
        tf.variable(tf.tensor1d(Float32Array.from({ length: outputs }, () => draw.normal(0, 1e-4)))),
      ],
    ];
  };
  return new Map([
    ...head('type', HEAD_CLASSES.length),
    ...head('severity', TRAINING_DISTORTIONS.length),
    ...head('content', CONTENT_KINDS.length),
  ]);
}

export interface HeadLossWeights {
  severity: number;
  content: number;
}

export interface HeadOutput {
  /** Rank 0: mean over the batch. */
  loss: tf.Scalar;
  /** Rank 0: share of images whose strongest distortion (or none) ranks first. */
  typeAccuracy: tf.Scalar;
  /** Rank 0: mean absolute error of the strongest distortion's strength, in levels. */
  severityError: tf.Scalar;
}

/** Targets as tensors; made outside the differentiated function. */
export function headTargets(targets: readonly HeadTarget[]): tf.TensorContainerObject & {
  type: tf.Tensor2D;
  severity: tf.Tensor2D;
  content: tf.Tensor2D;
} {
  const oneHot = (classes: number, index: (target: HeadTarget) => number): tf.Tensor2D => {
    const rows = new Float32Array(targets.length * classes);
    targets.forEach((target, row) => {
      rows[row * classes + index(target)] = 1;
    });
    return tf.tensor2d(rows, [targets.length, classes]);
  };
  const severity = new Float32Array(targets.length * TRAINING_DISTORTIONS.length);
  targets.forEach((target, row) => {
    for (const { type, strength } of target.distortions) {
      const column = (TRAINING_DISTORTIONS as readonly string[]).indexOf(type);
      if (column >= 0) severity[row * TRAINING_DISTORTIONS.length + column] = strength / 5;
    }
  });
  return {
    type: oneHot(HEAD_CLASSES.length, ({ distortions: [first] }) =>
      first === undefined ? 0 : HEAD_CLASSES.indexOf(first.type),
    ),
    severity: tf.tensor2d(severity, [targets.length, TRAINING_DISTORTIONS.length]),
    content: oneHot(CONTENT_KINDS.length, ({ contentKind }) => CONTENT_KINDS.indexOf(contentKind)),
  };
}

/**
 * Cross entropy of the strongest distortion, squared error of every type's strength / 5, cross entropy of the
 * kind of scene.
 *
 * @param imageTokens [B, tokens, hidden]
 */
export function headLoss(
  heads: ReadonlyMap<string, tf.Variable>,
  imageTokens: tf.Tensor3D,
  targets: ReturnType<typeof headTargets>,
  weights: HeadLossWeights,
): HeadOutput {
  const pooled = tf.mean(imageTokens, 1) as tf.Tensor2D;
  const output = (name: string): tf.Tensor2D =>
    tf.add(
      tf.matMul(pooled, heads.get(`head.${name}.weight`) as tf.Tensor2D, false, true),
      heads.get(`head.${name}.bias`)!,
    );
  const crossEntropy = (logits: tf.Tensor2D, target: tf.Tensor2D): tf.Scalar =>
    tf.neg(tf.mean(tf.sum(tf.mul(tf.logSoftmax(logits), target), -1))) as tf.Scalar;
  const type = output('type');
  const severity = output('severity');
  const severityLoss = tf.mean(tf.sum(tf.square(tf.sub(severity, targets.severity)), -1));
  const loss = tf.add(
    tf.add(crossEntropy(type, targets.type), tf.mul(severityLoss, weights.severity)),
    tf.mul(crossEntropy(output('content'), targets.content), weights.content),
  ) as tf.Scalar;
  const hit = tf.sum(
    tf.mul(tf.cast(tf.greaterEqual(type, tf.max(type, -1, true)), 'float32'), targets.type),
    -1,
  );
  const strongest = tf.sub(tf.max(targets.severity, -1), tf.max(severity, -1));
  return {
    loss,
    typeAccuracy: tf.mean(hit) as tf.Scalar,
    severityError: tf.mul(tf.mean(tf.abs(strongest)), 5) as tf.Scalar,
  };
}
