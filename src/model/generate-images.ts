import { InputError } from '../core/index.ts';
import { tf } from '../engine/index.ts';
import { encodeImages, type Network } from './forward.ts';
import type { ProcessedImage } from './image-processor.ts';
import { groupImages, type ImageGroup } from './sequence.ts';

/** Embeddings [tokens, hidden] of images, by the image object itself. */
export type ImageFeatures = ReadonlyMap<ProcessedImage, tf.Tensor2D>;

/**
 * Encodes each distinct image once, for uses to come (generation and training with a frozen vision tower).
 * The caller disposes the tensors, for instance with `disposeImageFeatures`.
 */
export function encodeImageFeatures(network: Network, images: Iterable<ProcessedImage>): ImageFeatures {
  const { groups } = groupImages(images, network.config);
  const features = new Map<ProcessedImage, tf.Tensor2D>();
  tf.tidy(() => {
    const all = encodeImages(network, groups);
    let row = 0;
    for (const { images: members, plan } of groups) {
      for (const image of members) {
        features.set(image, tf.keep(tf.slice(all!, [row, 0], [plan.tokens, all!.shape[1]])));
        row += plan.tokens;
      }
    }
  });
  return features;
}

export function disposeImageFeatures(features: ImageFeatures): void {
  for (const tensor of features.values()) tensor.dispose();
}

/** The features of a batch's images in the order that `forward` expects, [R, hidden]; none without images. */
export function batchFeatures(
  groups: readonly ImageGroup[],
  features: ImageFeatures,
): tf.Tensor2D | undefined {
  const parts = groups.flatMap(({ images, plan }) =>
    images.map((image) => {
      const tensor = features.get(image);
      if (tensor === undefined)
        throw new InputError('an image of a prompt has no entry in the image features given', {
          hint: 'encode the very image objects that the sequences hold',
        });
      if (tensor.shape[0] !== plan.tokens)
        throw new InputError(
          `the features of an image have ${tensor.shape[0]} rows, its grid asks for ${plan.tokens}`,
        );
      return tensor;
    }),
  );
  if (parts.length === 0) return undefined;
  return parts.length === 1 ? parts[0]! : tf.concat(parts, 0);
}
