import { tf } from '../engine/index.ts';
import {
  appendTokens,
  collate,
  crossEntropy,
  encodeImages,
  encodeText,
  type ProcessedImage,
  promptSequence,
  stackPatches,
  type VisionLanguageModel,
  visionPlan,
} from '../model/index.ts';
import type { BaseConfig } from './base.config.ts';
import { type HeadTarget, headLoss, headTargets } from './base-heads.ts';
import { chunk } from './chunk.ts';
import type { MicroLoss } from './update.ts';

type LossSettings = Pick<BaseConfig, 'severityWeight' | 'contentWeight' | 'caption'>;

/** A picture of the base stage, what its heads are taught, and (second phase) the caption to be learnt. */
export interface BaseExample {
  image: ProcessedImage;
  target: HeadTarget;
  caption: string;
}

const headWeights = ({ severityWeight, contentWeight }: LossSettings) => ({
  severity: severityWeight,
  content: contentWeight,
});

/**
 * Head loss of one micro-batch of pictures of equal size.
 *
 * @param share the micro-batch's part of the whole optimiser batch
 */
export function visionLoss(
  model: VisionLanguageModel,
  heads: ReadonlyMap<string, tf.Variable>,
  examples: readonly Omit<BaseExample, 'caption'>[],
  settings: LossSettings,
  share: number,
): () => MicroLoss {
  const images = examples.map(({ image }) => image);
  const targets = examples.map(({ target }) => target);
  const plan = visionPlan(images[0]!.grid, model.config.vision);
  const patches = stackPatches(images, plan);
  return () => {
    const tokens = encodeImages(model, [{ plan, count: images.length, images, patches }])!;
    const shaped = tf.reshape(tokens, [images.length, plan.tokens, -1]) as tf.Tensor3D;
    const output = headLoss(heads, shaped, headTargets(targets), headWeights(settings));
    const part = (value: tf.Scalar): tf.Scalar => tf.mul(value, share);
    return {
      loss: part(output.loss),
      metrics: { typeAccuracy: part(output.typeAccuracy), severityError: part(output.severityError) },
    };
  };
}

/**
 * Cross entropy of the captions over the caption tokens of the whole batch, plus the head loss, in micro-batches.
 *
 * @param prompt what the captions answer
 */
export function captionLosses(
  model: VisionLanguageModel,
  heads: ReadonlyMap<string, tf.Variable>,
  examples: readonly BaseExample[],
  prompt: string,
  settings: LossSettings,
  microBatch: number,
): (() => MicroLoss)[] {
  const { tokenizer } = model;
  const parts = chunk(examples, microBatch).map((part) => {
    const sequences = part.map(({ image, caption }) =>
      appendTokens(
        promptSequence(
          model,
          [{ role: 'user', content: [{ type: 'image' }, { type: 'text', text: prompt }] }],
          [image],
        ),
        [...encodeText(tokenizer, caption), tokenizer.endOfSequenceIds[0]!],
        'action',
      ),
    );
    return { batch: collate(sequences, model.config), targets: part.map(({ target }) => target) };
  });
  const tokens = parts.reduce((sum, { batch }) => sum + batch.actions.count, 0);
  return parts.map(({ batch, targets }) => () => {
    const share = targets.length / examples.length;
    const [group] = batch.images;
    const embeddings = encodeImages(model, batch.images)!;
    const { sum } = crossEntropy(model, batch, { imageEmbeddings: embeddings });
    const caption = tf.mul(sum, 1 / tokens) as tf.Scalar;
    const shaped = tf.reshape(embeddings, [group!.count, group!.plan.tokens, -1]) as tf.Tensor3D;
    const output = headLoss(heads, shaped, headTargets(targets), headWeights(settings));
    return {
      loss: tf.add(caption, tf.mul(output.loss, share * settings.caption.headWeight)) as tf.Scalar,
      metrics: {
        captionLoss: caption,
        typeAccuracy: tf.mul(output.typeAccuracy, share) as tf.Scalar,
        severityError: tf.mul(output.severityError, share) as tf.Scalar,
      },
    };
  });
}
