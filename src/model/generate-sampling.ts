import { ConfigError, type Tokenizer } from '../core/index.ts';
import { tf } from '../engine/index.ts';
import type { AnyModelConfig } from './config.ts';
import { samplingLogits } from './log-probabilities.ts';
import { visionTokenIds } from './sequence.ts';

export interface Sampling {
  /** Logits are divided by this; 0 takes the most probable token. */
  temperature: number;
  /** Only the most probable tokens that together reach this probability may be drawn (Holtzman 2020); 1: all. */
  topP: number;
  /** Tokens that are never drawn and have probability 0. */
  bannedTokenIds: readonly number[];
}

export interface ChosenTokens {
  /** int32 [B] */
  tokens: tf.Tensor1D;
  /**
   * [B] in nats, over all tokens that are not banned, at the sampling temperature (at 1 when greedy). Top-p
   * does not enter: this is what the training forward pass computes for the token.
   */
  logProbabilities: tf.Tensor1D;
}

export function checkSampling({ temperature, topP }: Sampling): void {
  if (!(temperature >= 0 && temperature < Number.POSITIVE_INFINITY))
    throw new ConfigError(`temperature is ${temperature}, allowed is a finite number from 0 on`, {
      hint: '0 always takes the most probable token',
    });
  if (!(topP > 0 && topP <= 1))
    throw new ConfigError(`topP is ${topP}, allowed is above 0 and at most 1`, {
      hint: '1 draws from all tokens; to take the most probable one set the temperature to 0',
    });
}

/**
 * Draws one token per row by inverting the cumulative distribution.
 *
 * @param logits [B, vocabulary] @param uniforms [B] in [0, 1), multiples of 2^-24
 */
export function chooseTokens(logits: tf.Tensor2D, uniforms: tf.Tensor1D, sampling: Sampling): ChosenTokens {
  const { temperature, topP, bannedTokenIds } = sampling;
  const [batch, vocabulary] = logits.shape;
  const greedy = temperature === 0;
  const scores = samplingLogits(logits, { temperature: greedy ? 1 : temperature, bannedTokenIds });
  const probabilities = tf.softmax(scores, 1);
  let tokens: tf.Tensor1D;
  if (greedy) tokens = tf.argMax(scores, 1) as tf.Tensor1D;
  else if (topP === 1) tokens = drawn(probabilities, uniforms);
  else tokens = drawnFromNucleus(probabilities, topP, uniforms);
  const chosen = tf.gather(tf.reshape(probabilities, [batch * vocabulary]), flatIndex(tokens, vocabulary));
  return { tokens, logProbabilities: tf.log(chosen) as tf.Tensor1D };
}

/**
 * The first column whose cumulative mass exceeds uniform x total. The comparison is strict, so a column of
 * mass 0 is never the first; and a uniform of at most 1 - 2^-24 keeps the product below the total even after
 * rounding, so there always is one.
 */
function drawn(masses: tf.Tensor2D, uniforms: tf.Tensor1D): tf.Tensor1D {
  const [batch, columns] = masses.shape;
  const cumulative = tf.cumsum(masses, 1);
  const total = tf.slice(cumulative, [0, columns - 1], [batch, 1]);
  const threshold = tf.mul(total, tf.reshape(uniforms, [batch, 1]));
  return tf.sum(tf.cast(tf.lessEqual(cumulative, threshold), 'int32'), 1);
}

/** Like `drawn`, from the largest masses only: those before which less than `topP` has been summed up. */
function drawnFromNucleus(masses: tf.Tensor2D, topP: number, uniforms: tf.Tensor1D): tf.Tensor1D {
  const [batch, columns] = masses.shape;
  const { values, indices } = tf.topk(masses, columns, true);
  const before = tf.cumsum(values, 1, true);
  const nucleus = tf.mul(values, tf.cast(tf.less(before, topP), 'float32')) as tf.Tensor2D;
  const rank = drawn(nucleus, uniforms);
  return tf.gather(tf.reshape(indices, [batch * columns]), flatIndex(rank, columns)) as tf.Tensor1D;
}

/** Index of [row, column] in a flattened [B, columns]. */
function flatIndex(column: tf.Tensor1D, columns: number): tf.Tensor1D {
  const starts = Int32Array.from({ length: column.shape[0] }, (_, row) => row * columns);
  return tf.add(column, tf.tensor1d(starts, 'int32'));
}

const specialIds = new WeakMap<Tokenizer, readonly number[]>();

/**
 * Tokens that generation never draws: those that stand for pictures, special tokens other than the end of
 * sequence, and ids beyond the tokenizer. Give the same to `responseLogProbabilities`.
 */
export function neverSampledTokenIds(config: AnyModelConfig, tokenizer: Tokenizer): number[] {
  let special = specialIds.get(tokenizer);
  if (special === undefined) {
    special = Array.from({ length: tokenizer.vocabularySize }, (_, id) => id).filter(
      (id) => tokenizer.decode([id]) === '' && tokenizer.decode([id], { keepSpecial: true }) !== '',
    );
    specialIds.set(tokenizer, special);
  }
  const beyond = Array.from(
    { length: Math.max(0, config.text.vocabularySize - tokenizer.vocabularySize) },
    (_, i) => tokenizer.vocabularySize + i,
  );
  const ids = new Set([...visionTokenIds(config), tokenizer.padId, ...special, ...beyond]);
  for (const id of tokenizer.endOfSequenceIds) ids.delete(id);
  return [...ids].sort((a, b) => a - b);
}
