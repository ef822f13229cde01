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
  /** Only the k most probable tokens may be drawn; default all. Before top-p, as in transformers. */
  topK?: number | undefined;
  /**
   * Logits of tokens that the prompt or the answer holds already are divided by this where positive and multiplied
   * where negative (Keskar et al. 2019, arXiv 1909.05858, section 4.1, in transformers' form); default 1, none.
   */
  repetitionPenalty?: number | undefined;
  /** Tokens that are never drawn and have probability 0. */
  bannedTokenIds: readonly number[];
}

/** Whether a generation must know which tokens there have been. */
export const remembersTokens = ({ repetitionPenalty = 1 }: Sampling): boolean => repetitionPenalty !== 1;

export interface ChosenTokens {
  /** int32 [B] */
  tokens: tf.Tensor1D;
  /**
   * [B] in nats, over all tokens that are not banned, at the sampling temperature (at 1 when greedy). Top-k, top-p
   * and the repetition penalty do not enter: this is what the training forward pass computes for the token.
   */
  logProbabilities: tf.Tensor1D;
}

export function checkSampling({ temperature, topP, topK, repetitionPenalty = 1 }: Sampling): void {
  if (!(temperature >= 0 && temperature < Number.POSITIVE_INFINITY))
    throw new ConfigError(`temperature is ${temperature}, allowed is a finite number from 0 on`, {
      hint: '0 always takes the most probable token',
    });
  if (!(topP > 0 && topP <= 1))
    throw new ConfigError(`topP is ${topP}, allowed is above 0 and at most 1`, {
      hint: '1 draws from all tokens; to take the most probable one set the temperature to 0',
    });
  if (topK !== undefined && !(Number.isInteger(topK) && topK >= 1))
    throw new ConfigError(`topK is ${topK}, allowed is a whole number from 1 on`, {
      hint: 'leave it out to draw from all tokens',
    });
  if (!(repetitionPenalty > 0 && repetitionPenalty < Number.POSITIVE_INFINITY))
    throw new ConfigError(`repetitionPenalty is ${repetitionPenalty}, allowed is a finite number above 0`, {
      hint: '1 is no penalty, 1.05 a usual one',
    });
}

/**
 * Draws one token per row by inverting the cumulative distribution.
 *
 * @param logits [B, vocabulary] @param uniforms [B] in [0, 1), multiples of 2^-24
 * @param seen [B, vocabulary], 1 for the tokens that a row holds already; for the repetition penalty
 */
export function chooseTokens(
  logits: tf.Tensor2D,
  uniforms: tf.Tensor1D,
  sampling: Sampling,
  seen?: tf.Tensor2D,
): ChosenTokens {
  const { temperature, topP, topK, bannedTokenIds, repetitionPenalty = 1 } = sampling;
  const [batch, vocabulary] = logits.shape;
  const greedy = temperature === 0;
  const settings = { temperature: greedy ? 1 : temperature, bannedTokenIds };
  const scores = samplingLogits(logits, settings);
  const probabilities = tf.softmax(scores, 1);
  const penalised =
    seen === undefined ? scores : samplingLogits(penalise(logits, seen, repetitionPenalty), settings);
  const masses = seen === undefined ? probabilities : tf.softmax(penalised, 1);
  let tokens: tf.Tensor1D;
  if (greedy) tokens = tf.argMax(penalised, 1) as tf.Tensor1D;
  else if (topK !== undefined && topK < vocabulary) tokens = drawnFromTop(masses, topK, topP, uniforms);
  else if (topP === 1) tokens = drawn(masses, uniforms);
  else tokens = drawnFromNucleus(masses, topP, uniforms);
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

/** From the k largest masses, of these from the nucleus that reaches `topP` of their sum. */
function drawnFromTop(masses: tf.Tensor2D, k: number, topP: number, uniforms: tf.Tensor1D): tf.Tensor1D {
  const [batch] = masses.shape;
  const { values, indices } = tf.topk(masses, k, true);
  const before = tf.div(tf.cumsum(values, 1, true), tf.sum(values, 1, true));
  const kept = topP === 1 ? values : tf.mul(values, tf.cast(tf.less(before, topP), 'float32'));
  const rank = drawn(kept as tf.Tensor2D, uniforms);
  return tf.gather(tf.reshape(indices, [batch * k]), flatIndex(rank, k)) as tf.Tensor1D;
}

function penalise(logits: tf.Tensor2D, seen: tf.Tensor2D, penalty: number): tf.Tensor2D {
  const lowered = tf.where(tf.less(logits, 0), tf.mul(logits, penalty), tf.div(logits, penalty));
  return tf.where(tf.greater(seen, 0), lowered, logits) as tf.Tensor2D;
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
