import { tf } from '../engine/index.ts';
import {
  type Batch,
  batchFeatures,
  type ImageFeatures,
  type LogProbabilityOptions,
  neverSampledTokenIds,
  picturesOf,
  type ResponseScores,
  responseLogProbabilities,
  type VisionLanguageModel,
} from '../model/index.ts';

/** A network that scores tokens as the sampler drew them: same temperature, same banned tokens. */
export interface PolicyScorer {
  /** To be differentiated, or inside `tf.tidy`. */
  trace(batch: Batch): ResponseScores;
  /** [T] of the flat vectors, padding included. */
  logProbabilities(batch: Batch): Promise<Float32Array>;
  /** The same, and the entropy at each token in nats. */
  withEntropy(batch: Batch): Promise<{ logProbabilities: Float32Array; entropies: Float32Array }>;
}

/** @param features of the pictures, where the vision tower is not part of what is scored */
export function policyScorer(
  network: VisionLanguageModel,
  features: ImageFeatures | null,
  { temperature, checkpointing }: Pick<LogProbabilityOptions, 'temperature' | 'checkpointing'>,
): PolicyScorer {
  const bannedTokenIds = neverSampledTokenIds(network.config, network.tokenizer);
  const trace = (batch: Batch): ResponseScores => {
    const imageEmbeddings = features === null ? undefined : batchFeatures(picturesOf(batch), features);
    return responseLogProbabilities(network, batch, {
      ...(temperature === undefined ? {} : { temperature }),
      bannedTokenIds,
      imageEmbeddings,
      checkpointing,
    });
  };
  const read = async (tensor: tf.Tensor): Promise<Float32Array> => {
    const values = Float32Array.from((await tensor.data()) as Float32Array);
    tensor.dispose();
    return values;
  };
  return {
    trace,
    logProbabilities: (batch) => read(tf.tidy(() => trace(batch).logProbabilities)),
    withEntropy: async (batch) => {
      const [taken, entropy] = tf.tidy(() => {
        const scores = trace(batch);
        return [scores.logProbabilities, scores.entropy()] as [tf.Tensor, tf.Tensor];
      });
      return { logProbabilities: await read(taken), entropies: await read(entropy) };
    },
  };
}
