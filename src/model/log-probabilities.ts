import { checkpointed, tf } from '../engine/index.ts';
import type { Checkpointing } from './checkpointing.ts';
import { type ForwardOptions, forward, type Network } from './forward.ts';
import type { Batch } from './sequence.ts';
import { headName, languageHead } from './text.ts';

/** Below whatever a temperature of 1e-10 makes of a logit; added to one, it is all that is left. */
const BANNED_LOGIT = -1e30;

export interface LogProbabilityOptions extends ForwardOptions {
  /** Logits are divided by this, as when sampling. Default 1. */
  temperature?: number;
  /** Tokens the sampler may not choose; they get probability 0 here too. Default none. */
  bannedTokenIds?: readonly number[];
}

export interface ResponseScores {
  /** [n] log-probability of each action token; n and the order are those of `batch.actions`, padding included. */
  logProbabilities: tf.Tensor1D;
  /** [n] entropy in nats of the distribution each action token was drawn from. Built only when used. */
  entropy: () => tf.Tensor1D;
  /** [B, T, hidden] */
  hidden: tf.Tensor3D;
}

/** Log-probabilities of the action tokens of a batch. Padding entries hold a finite value of weight 0. */
export function responseLogProbabilities(
  network: Network,
  batch: Batch,
  options: LogProbabilityOptions = {},
): ResponseScores {
  const hidden = forward(network, batch, options);
  const { actions } = batch;
  const flat = tf.reshape(hidden, [batch.size * batch.length, network.config.text.hiddenSize]);
  const selected = tf.gather(flat, tf.tensor1d(actions.rows, 'int32')) as tf.Tensor2D;
  const { checkpointing } = options;
  if (checkpointing !== undefined)
    return { ...recomputedScores(network, selected, actions.tokenIds, options, checkpointing), hidden };
  const logits = samplingLogits(languageHead(network.parameters, network.config.text, selected), options);
  return {
    logProbabilities: takenLogProbabilities(logits, actions.tokenIds),
    entropy: () => entropyOf(logits),
    hidden,
  };
}

/** Logits in memory at a time where they are computed a second time: 32 MB. */
const LOGITS_AT_ONCE = 2 ** 23;

/**
 * The same scores without keeping logits: of a large vocabulary they would be the largest array of the whole step.
 * A few rows at a time, again in the backward pass.
 */
function recomputedScores(
  { parameters, config }: Network,
  hidden: tf.Tensor2D,
  tokenIds: Int32Array,
  options: LogProbabilityOptions,
  checkpointing: Checkpointing,
): Pick<ResponseScores, 'logProbabilities' | 'entropy'> {
  const [n, width] = hidden.shape;
  const trained = checkpointing(headName(config.text));
  const rows = Math.max(1, Math.floor(LOGITS_AT_ONCE / config.text.vocabularySize));
  const parts: tf.Tensor2D[] = [];
  for (let at = 0; at < n; at += rows) {
    const count = Math.min(rows, n - at);
    const tokens = tokenIds.slice(at, at + count);
    const score = (x: tf.Tensor2D): tf.Tensor2D => {
      const logits = samplingLogits(languageHead(parameters, config.text, x), options);
      return tf.stack([takenLogProbabilities(logits, tokens), entropyOf(logits)], 1) as tf.Tensor2D;
    };
    parts.push(checkpointed(score, tf.slice(hidden, [at, 0], [count, width]), [], trained));
  }
  const scores = parts.length === 1 ? parts[0]! : tf.concat(parts, 0);
  const column = (index: number): tf.Tensor1D => tf.reshape(tf.slice(scores, [0, index], [n, 1]), [n]);
  return { logProbabilities: column(0), entropy: () => column(1) };
}

/** logits / temperature with banned tokens out of reach: what a sampler draws from. logits [n, vocabulary]. */
export function samplingLogits(
  logits: tf.Tensor2D,
  options: { temperature?: number; bannedTokenIds?: readonly number[] },
): tf.Tensor2D {
  const { temperature = 1, bannedTokenIds = [] } = options;
  if (!(temperature > 0)) throw new RangeError(`temperature is ${temperature}, it must be above 0`);
  const scaled = temperature === 1 ? logits : tf.mul<tf.Tensor2D>(logits, 1 / temperature);
  if (bannedTokenIds.length === 0) return scaled;
  const ban = new Float32Array(logits.shape[1]);
  for (const id of bannedTokenIds) ban[id] = BANNED_LOGIT;
  return tf.add(scaled, tf.tensor1d(ban));
}

/** Cross-entropy of the action tokens: its sum in nats (a scalar to differentiate) and their number. */
export function crossEntropy(
  network: Network,
  batch: Batch,
  options: LogProbabilityOptions = {},
): { sum: tf.Scalar; count: number; scores: ResponseScores } {
  const scores = responseLogProbabilities(network, batch, options);
  const weighted = tf.mul(scores.logProbabilities, tf.tensor1d(batch.actions.weights));
  return { sum: tf.neg(tf.sum(weighted)) as tf.Scalar, count: batch.actions.count, scores };
}

/**
 * log softmax(logits)[i, tokens[i]], [n]. The gradient is written out (one-hot minus softmax): the automatic
 * one would keep several [n, vocabulary] arrays, or multiply by a stored one-hot.
 */
export function takenLogProbabilities(logits: tf.Tensor2D, tokens: Int32Array): tf.Tensor1D {
  const [n, vocabulary] = logits.shape;
  const flatIndex = Int32Array.from(tokens, (token, i) => i * vocabulary + token);
  const taken = tf.customGrad((x, save) => {
    const scores = x as tf.Tensor2D;
    const normaliser = tf.logSumExp(scores, 1) as tf.Tensor1D;
    const chosen = tf.gather(tf.reshape(scores, [n * vocabulary]), tf.tensor1d(flatIndex, 'int32'));
    (save as tf.GradSaveFunc)([scores, normaliser]);
    const gradFunc = (dy: tf.Tensor, saved: tf.Tensor[]) => {
      const [kept, total] = saved as [tf.Tensor2D, tf.Tensor1D];
      const probabilities = tf.exp(tf.sub(kept, tf.reshape(total, [n, 1])));
      const columns = tf.tensor2d(
        Int32Array.from({ length: vocabulary }, (_, i) => i),
        [1, vocabulary],
        'int32',
      );
      const isTaken = tf.cast(tf.equal(columns, tf.tensor2d(tokens, [n, 1], 'int32')), 'float32');
      return tf.mul(tf.sub(isTaken, probabilities), tf.reshape(dy, [n, 1]));
    };
    return { value: tf.sub(chosen, normaliser), gradFunc };
  });
  return taken(logits) as tf.Tensor1D;
}

/** Entropy in nats of each row, -sum p log p. A banned token has p = 0 and a finite logit, so it adds 0. */
function entropyOf(logits: tf.Tensor2D): tf.Tensor1D {
  const logProbabilities = tf.logSoftmax(logits, 1);
  return tf.neg(tf.sum(tf.mul(tf.exp(logProbabilities), logProbabilities), 1)) as tf.Tensor1D;
}
