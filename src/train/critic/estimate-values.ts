import { tf } from '../../engine/index.ts';
import {
  batchFeatures,
  forward,
  type ImageFeatures,
  picturesOf,
  type VisionLanguageModel,
} from '../../model/index.ts';
import { microBatches, type PolicySample } from '../policy-batch.ts';
import { type Critic, predictValues } from './value-head.ts';

/** Value before each action token, [A] per sample, under the present weights. */
export async function estimateValues(
  critic: Critic,
  model: VisionLanguageModel,
  samples: readonly PolicySample[],
  { features, microBatch }: { features: ImageFeatures | undefined; microBatch: number },
): Promise<Float64Array[]> {
  const result: Float64Array[] = [];
  for (const { batch, lengths } of microBatches(samples, microBatch, model)) {
    const values = tf.tidy(() => {
      const imageEmbeddings = features === undefined ? undefined : batchFeatures(picturesOf(batch), features);
      return predictValues(critic, forward(model, batch, { imageEmbeddings }), batch.actions.rows);
    });
    const numbers = await values.data();
    values.dispose();
    let at = 0;
    for (const length of lengths) {
      result.push(Float64Array.from(numbers.subarray(at, at + length)));
      at += length;
    }
  }
  return result;
}
