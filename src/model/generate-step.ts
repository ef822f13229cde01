import { tf } from '../engine/index.ts';
import type { Network } from './forward.ts';
import { type ChosenTokens, chooseTokens, type Sampling } from './generate-sampling.ts';
import type { Rotary } from './layers.ts';
import { rotaryTables } from './positions.ts';
import { type Attend, embed, languageForward, languageHead } from './text.ts';

/** What stays the same during a generation. */
export interface DecodeContext {
  network: Network;
  sampling: Sampling;
  /** Rows B, those that only fill up the batch included. */
  size: number;
  /** int32 [B], see `SequencePositions.ropeDelta`. */
  ropeDeltas: tf.Tensor1D;
  /** Rotary tables [positions, headSize] of text, where the three axes agree. */
  rotary: Rotary<tf.Tensor2D>;
  /** int32 [vocabulary], 1 at the end-of-sequence tokens. */
  isEnd: tf.Tensor1D;
  padId: number;
}

/** What changes with each token, but for the caches. */
export interface RowState {
  /** int32 [B], the last token of each row: not yet in the cache. */
  tokens: tf.Tensor1D;
  /** int32 [B], 1 once a row has drawn an end-of-sequence token. */
  finished: tf.Tensor1D;
  /** int32 [B], tokens in the cache of each row. */
  lengths: tf.Tensor1D;
  /** [B, vocabulary], 1 for tokens that a row holds; only where the sampling remembers them. */
  seen?: tf.Tensor2D | undefined;
}

export interface StepResult {
  state: RowState;
  /** [B], 0 in rows that had finished before. */
  logProbabilities: tf.Tensor1D;
}

/** Draws the next token of each row from logits [B, vocabulary]; finished rows get padding. */
export function drawNext(
  context: DecodeContext,
  logits: tf.Tensor2D,
  finished: tf.Tensor1D,
  lengths: tf.Tensor1D,
  uniforms: tf.Tensor1D,
  seen?: tf.Tensor2D,
): StepResult {
  const chosen: ChosenTokens = chooseTokens(logits, uniforms, context.sampling, seen);
  const done = tf.greater(finished, 0);
  const ended = tf.gather(context.isEnd, chosen.tokens) as tf.Tensor1D;
  return {
    state: {
      tokens: tf.where(done, tf.fill([context.size], context.padId, 'int32'), chosen.tokens) as tf.Tensor1D,
      finished: tf.maximum(finished, ended),
      lengths,
      ...(seen === undefined ? {} : { seen: remember(seen, chosen.tokens) }),
    },
    logProbabilities: tf.where(done, tf.zerosLike(chosen.logProbabilities), chosen.logProbabilities),
  };
}

/** `seen` with one more token in each row. */
function remember(seen: tf.Tensor2D, tokens: tf.Tensor1D): tf.Tensor2D {
  const [batch, vocabulary] = seen.shape;
  const columns = Int32Array.from({ length: vocabulary }, (_, id) => id);
  const isToken = tf.equal(tf.tensor2d(columns, [1, vocabulary], 'int32'), tf.reshape(tokens, [batch, 1]));
  return tf.maximum(seen, tf.cast(isToken, 'float32')) as tf.Tensor2D;
}

/** One decoding step: runs each row's last token through the model and draws the next one. */
export function decodeStep(
  context: DecodeContext,
  { tokens, finished, lengths, seen }: RowState,
  uniforms: tf.Tensor1D,
  attend: Attend,
): StepResult {
  const { network, size, ropeDeltas, rotary } = context;
  const { parameters, config } = network;
  const positions = tf.add(lengths, ropeDeltas);
  const table = (t: tf.Tensor2D): tf.Tensor3D =>
    tf.reshape(tf.gather(t, positions), [size, 1, config.text.headSize]);
  const hidden = languageForward(
    parameters,
    config.text,
    embed(parameters, tf.reshape(tokens, [size, 1]) as tf.Tensor2D),
    { cos: table(rotary.cos), sin: table(rotary.sin) },
    attend,
  );
  const logits = languageHead(
    parameters,
    config.text,
    tf.reshape(hidden, [size, config.text.hiddenSize]) as tf.Tensor2D,
  );
  // A finished row's cache stops growing; its padding goes to the same place again and again.
  const grown = tf.add(lengths, tf.sub(1, finished).toInt()) as tf.Tensor1D;
  return drawNext(context, logits, finished, grown, uniforms, seen);
}

/** Tables for text positions 0 to at least `highest`; the extent is a power of two, for graph reuse. */
export function textRotary(network: Network, highest: number): Rotary<tf.Tensor2D> {
  const { text } = network.config;
  const extent = Math.max(64, 2 ** Math.ceil(Math.log2(highest + 1)));
  const positions = Int32Array.from({ length: 3 * extent }, (_, i) => i % extent);
  const { cos, sin } = rotaryTables(positions, text);
  const shape: [number, number] = [extent, text.headSize];
  return { cos: tf.tensor2d(cos, shape), sin: tf.tensor2d(sin, shape) };
}

/** Like tf.tidy, for results that are not plain containers of tensors: keeps what `kept` names. */
export function tidyKeeping<T>(build: () => T, kept: (result: T) => tf.Tensor[]): T {
  const results: T[] = [];
  tf.tidy(() => {
    const result = build();
    results.push(result);
    return kept(result);
  });
  return results[0] as T;
}

export const stateTensors = ({ tokens, finished, lengths, seen }: RowState): tf.Tensor[] => [
  tokens,
  finished,
  lengths,
  ...(seen === undefined ? [] : [seen]),
];
