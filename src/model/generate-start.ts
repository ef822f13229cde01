import type { Tokenizer } from '../core/index.ts';
import { type KeyValueCache, tf } from '../engine/index.ts';
import type { Network } from './forward.ts';
import { capturedDecoder, type Decoder, stepwiseDecoder } from './generate-decoding.ts';
import type { ImageFeatures } from './generate-images.ts';
import { prefill } from './generate-prefill.ts';
import { remembersTokens, type Sampling } from './generate-sampling.ts';
import {
  type DecodeContext,
  drawNext,
  type StepResult,
  stateTensors,
  textRotary,
  tidyKeeping,
} from './generate-step.ts';
import type { Batch } from './sequence.ts';

export interface GeneratingModel extends Network {
  tokenizer: Tokenizer;
}

export interface StartOptions {
  /** Tokens at most, the end-of-sequence token included. */
  maxNewTokens: number;
  /** Embeddings of the prompts' images, to run a vision tower that does not change only once. */
  imageFeatures?: ImageFeatures;
  /**
   * Tokens that end an answer, besides the tokenizer's own. They are part of its tokens and, unless special, of its
   * text. Special tokens among them are drawn, which otherwise they never are.
   */
  stopTokenIds?: readonly number[];
  /** `captured`: one compiled loop, on the backend onnx only, where it is the default. `stepwise`: any backend. */
  decoding?: 'captured' | 'stepwise';
}

export interface Rows {
  /** Rows of the decoding batch; those from `used` on only fill it up to a size that compiled graphs share. */
  size: number;
  used: number;
  /** Prompt of each row. */
  prompts: Int32Array;
}

export function rowsOf(prompts: number, samples: number): Rows {
  const used = prompts * samples;
  // 1, 2, 3, 4, 6, 8, 12, 16, ...: at most a third is filling.
  const power = 2 ** Math.ceil(Math.log2(used));
  const size = power >= 4 && (power / 4) * 3 >= used ? (power / 4) * 3 : power;
  const owners = Int32Array.from({ length: size }, (_, row) => (row < used ? Math.floor(row / samples) : 0));
  return { size, used, prompts: owners };
}

/** Prefill, the repetition of its results for every row, and the first token; all in one graph. */
export function startDecoding(
  model: GeneratingModel,
  batch: Batch,
  rows: Rows,
  sampling: Sampling,
  options: StartOptions,
  uniforms: Float32Array,
): { context: DecodeContext; decoder: Decoder; tokens: Int32Array; logProbabilities: Float32Array } {
  const perRow = (values: Int32Array): Int32Array => rows.prompts.map((prompt) => values[prompt]!);
  const lengths = perRow(batch.lengths);
  const deltas = perRow(batch.ropeDeltas);
  const highest = lengths.reduce((most, length, row) => Math.max(most, length + deltas[row]!), 0);
  const { vocabularySize } = model.config.text;
  const decoding = options.decoding ?? (tf.getBackend() === 'onnx' ? 'captured' : 'stepwise');
  // Rows that fill up the batch belong to no prompt's share.
  const sharesPrompts = decoding === 'captured' && rows.used === rows.size;
  const isEnd = new Int32Array(vocabularySize);
  for (const id of endIdsOf(model.tokenizer, options)) isEnd[id] = 1;
  const started = tidyKeeping(() => {
    const context: DecodeContext = {
      network: model,
      sampling,
      size: rows.size,
      ropeDeltas: tf.tensor1d(deltas, 'int32'),
      rotary: textRotary(model, highest + options.maxNewTokens),
      isEnd: tf.tensor1d(isEnd, 'int32'),
      padId: model.tokenizer.padId,
    };
    const { logits, caches } = prefill(model, batch, options.imageFeatures);
    const owners = tf.tensor1d(rows.prompts, 'int32');
    const repeated = <T extends tf.Tensor>(t: T): T => tf.gather(t, owners) as T;
    const filling = rows.prompts.map((_, row) => (row < rows.used ? 0 : 1));
    const first = drawNext(
      context,
      repeated(logits),
      tf.tensor1d(filling, 'int32'),
      tf.tensor1d(lengths, 'int32'),
      tf.tensor1d(uniforms),
      remembersTokens(sampling) ? tokensSeen(batch, rows, vocabularySize) : undefined,
    );
    const repeatedCaches = (): KeyValueCache[] =>
      caches.map(({ keys, values }) => ({ keys: repeated(keys), values: repeated(values) }));
    return { context, first, caches: sharesPrompts ? caches : repeatedCaches() };
  }, tensorsOfStart);
  const { context, first, caches } = started;
  try {
    const tokens = first.state.tokens.dataSync() as Int32Array;
    const logProbabilities = first.logProbabilities.dataSync() as Float32Array;
    first.logProbabilities.dispose();
    const decoder =
      decoding === 'captured'
        ? capturedDecoder(context, first.state, caches, sharesPrompts ? batch.lengths : lengths)
        : stepwiseDecoder(context, first.state, caches, lengths);
    return { context, decoder, tokens, logProbabilities };
  } catch (error) {
    // A graph that failed must not stay pending, or it would fail again with the next one.
    tf.dispose(tensorsOfStart(started));
    throw error;
  }
}

/** Ids that end an answer. */
export const endIdsOf = (
  { endOfSequenceIds }: Tokenizer,
  { stopTokenIds = [] }: Pick<StartOptions, 'stopTokenIds'>,
): Set<number> => new Set([...endOfSequenceIds, ...stopTokenIds]);

/** [B, vocabulary], 1 for the tokens of each row's prompt. */
function tokensSeen(batch: Batch, rows: Rows, vocabulary: number): tf.Tensor2D {
  const seen = new Float32Array(rows.size * vocabulary);
  rows.prompts.forEach((prompt, row) => {
    const from = prompt * batch.length;
    for (let i = 0; i < batch.lengths[prompt]!; i++) seen[row * vocabulary + batch.tokenIds[from + i]!] = 1;
  });
  return tf.tensor2d(seen, [rows.size, vocabulary]);
}

export const contextTensors = ({ ropeDeltas, rotary, isEnd }: DecodeContext): tf.Tensor[] => [
  ropeDeltas,
  rotary.cos,
  rotary.sin,
  isEnd,
];

interface Started {
  context: DecodeContext;
  first: StepResult;
  caches: KeyValueCache[];
}

const tensorsOfStart = ({ context, first, caches }: Started): tf.Tensor[] => [
  ...contextTensors(context),
  ...stateTensors(first.state),
  first.logProbabilities,
  ...caches.flatMap(({ keys, values }) => [keys, values]),
];
