import { ConfigError, type Tokenizer } from '../core/index.ts';
import { tf } from '../engine/index.ts';
import type { AnyModelConfig } from './config.ts';
import { samplingLogits } from './log-probabilities.ts';
import { visionTokenIds } from './sequence.ts';

export interface Sampling {
  /** Logits are divided by this; 0 takes the most probable token. */
  temperature: number;
  /**
   * Only the fewest most probable tokens that together reach this probability may be drawn, the one that crosses it
   * included (Holtzman 2020, arXiv 1904.09751, section 3.1); 1: all.
   */
  topP: number;
  /**
   * Only the k most probable tokens may be drawn, and those as probable as the k-th; default all. Before top-p, which
   * then takes its share of what is left, as in transformers.
   */
  topK?: number | undefined;
  /**
   * Logits of tokens that the prompt or the answer holds already are divided by this where positive and multiplied
   * where negative (Keskar et al. 2019, arXiv 1909.05858, section 4.1, in transformers' form); default 1, none.
   */
  repetitionPenalty?: number | undefined;
  /** Tokens that are never drawn, have probability 0 and take no place among the k. */
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

/** Bounds within which scores stay finite 32-bit floats, and far above those of banned tokens. */
const LEAST_TEMPERATURE = 1e-10;
const MOST_PENALTY = 1e6;

export function checkSampling({ temperature, topP, topK, repetitionPenalty = 1 }: Sampling): void {
  const isTemperature = temperature >= LEAST_TEMPERATURE && temperature < Number.POSITIVE_INFINITY;
  if (temperature !== 0 && !isTemperature)
    throw new ConfigError(
      `temperature is ${temperature}, allowed is 0 or a finite number from ${LEAST_TEMPERATURE} on`,
      { hint: '0 always takes the most probable token' },
    );
  if (!(topP > 0 && topP <= 1))
    throw new ConfigError(`topP is ${topP}, allowed is above 0 and at most 1`, {
      hint: '1 draws from all tokens; to take the most probable one set the temperature to 0',
    });
  if (topK !== undefined && !(Number.isInteger(topK) && topK >= 1))
    throw new ConfigError(`topK is ${topK}, allowed is a whole number from 1 on`, {
      hint: 'leave it out to draw from all tokens',
    });
  if (!(repetitionPenalty >= 1 / MOST_PENALTY && repetitionPenalty <= MOST_PENALTY))
    throw new ConfigError(
      `repetitionPenalty is ${repetitionPenalty}, allowed is a number from ${1 / MOST_PENALTY} to ${MOST_PENALTY}`,
      { hint: '1 is no penalty, 1.05 a usual one; below 1 repetition is favoured' },
    );
}

/**
 * Draws one token per row by inverting the cumulative distribution. In the order of transformers: repetition penalty,
 * banned tokens, temperature, top-k, top-p.
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
  const penalised =
    seen === undefined ? scores : samplingLogits(penalise(logits, seen, repetitionPenalty), settings);
  let tokens: tf.Tensor1D;
  if (greedy) tokens = tf.argMax(penalised, 1) as tf.Tensor1D;
  else {
    const all = tf.softmax(penalised, 1);
    const masses = topK === undefined || topK >= vocabulary ? all : massesOfTop(penalised, all, topK);
    tokens = topP === 1 ? drawn(masses, uniforms) : drawnFromNucleus(masses, topP, uniforms, topK);
  }
  const chosen = tf.gather(tf.reshape(scores, [batch * vocabulary]), flatIndex(tokens, vocabulary));
  // Not the logarithm of a probability: one that the penalty alone lets be drawn may be too small for a float.
  return { tokens, logProbabilities: tf.sub(chosen, tf.logSumExp(scores, 1)) as tf.Tensor1D };
}

/** The masses of the k highest scores and of those that equal the k-th; 0 elsewhere. */
function massesOfTop(scores: tf.Tensor2D, masses: tf.Tensor2D, k: number): tf.Tensor2D {
  const { values } = tf.topk(scores, k, true);
  const last = tf.slice(values, [0, k - 1], [scores.shape[0], 1]);
  // "Not less" instead of "at least": NaN must stay NaN, and be told, instead of leaving nothing to draw from.
  return tf.mul(masses, tf.sub(1, tf.cast(tf.less(scores, last), 'float32')));
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

/** Tokens as probable as the k-th that a nucleus of top-k looks at: sorting the whole vocabulary is slow. */
const TIES = 64;

/** Like `drawn`, from the largest masses only: those before which less than `topP` of all has been summed up. */
function drawnFromNucleus(
  masses: tf.Tensor2D,
  topP: number,
  uniforms: tf.Tensor1D,
  topK: number | undefined,
): tf.Tensor1D {
  const [batch, columns] = masses.shape;
  const width = topK === undefined ? columns : Math.min(columns, topK + TIES);
  const { values, indices } = tf.topk(masses, width, true);
  const before = tf.cumsum(values, 1, true);
  // The first is always in, also where its 0 would not be below a share that a float rounds to 0.
  const reached = tf.mul(tf.sum(values, 1, true), Math.max(topP, 1e-30));
  const nucleus = tf.mul(values, tf.cast(tf.less(before, reached), 'float32')) as tf.Tensor2D;
  const rank = drawn(nucleus, uniforms);
  return tf.gather(tf.reshape(indices, [batch * width]), flatIndex(rank, width)) as tf.Tensor1D;
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
 *
 * @param stopTokenIds special tokens that end an answer too, so that they must be drawn
 */
export function neverSampledTokenIds(
  config: AnyModelConfig,
  tokenizer: Tokenizer,
  stopTokenIds: readonly number[] = [],
): number[] {
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
  for (const id of [...tokenizer.endOfSequenceIds, ...stopTokenIds]) ids.delete(id);
  return [...ids].sort((a, b) => a - b);
}
