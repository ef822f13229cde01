import { setImmediate } from 'node:timers/promises';
import { type Completion, InputError } from '../core/index.ts';
import { tf } from '../engine/index.ts';
import {
  CompletionCollector,
  collate,
  contextTensors,
  type GeneratingModel,
  neverSampledTokenIds,
  rowsOf,
  type Sequence,
  startDecoding,
} from '../model/index.ts';

/** Tokens made between two pieces of text: the loop is compiled once and runs on from where it stopped. */
const TOKENS_PER_PIECE = 4;

export interface StreamCompletionOptions {
  maxNewTokens: number;
  /** Looked at between two pieces; its reason is then thrown. */
  signal?: AbortSignal | undefined;
}

/**
 * The greedy completion of one prompt, its text in pieces as they are made. The same decoder as `generate` makes
 * the tokens, a few at a time instead of 64, so the pieces add up to the very text that `generate` returns.
 */
export async function* streamCompletion(
  model: GeneratingModel,
  prompt: Sequence,
  { maxNewTokens, signal }: StreamCompletionOptions,
): AsyncGenerator<string, Completion, undefined> {
  const maxLength = model.config.text.maxPositions - maxNewTokens;
  if (maxLength < 1) {
    throw new InputError(
      `${maxNewTokens} new tokens leave no room in ${model.config.text.maxPositions} positions`,
    );
  }
  signal?.throwIfAborted();
  const sampling = {
    temperature: 0,
    topP: 1,
    bannedTokenIds: neverSampledTokenIds(model.config, model.tokenizer),
  };
  const batch = collate([prompt], model.config, { maxLength });
  const rows = rowsOf(1, 1);
  const zeros = (steps: number): Float32Array => new Float32Array(steps * rows.size);
  const collector = new CompletionCollector(model.tokenizer, rows.used);
  const started = startDecoding(model, batch, rows, sampling, { maxNewTokens }, zeros(1));
  const { context, decoder } = started;
  let told = '';
  try {
    let done = collector.add(1, rows.size, started.tokens, started.logProbabilities);
    for (let made = 1; made < maxNewTokens && !done; ) {
      await setImmediate();
      signal?.throwIfAborted();
      const wanted = Math.min(TOKENS_PER_PIECE, maxNewTokens - made);
      const { steps, tokens, logProbabilities } = await decoder.advance(zeros(wanted), wanted);
      done = collector.add(steps, rows.size, tokens, logProbabilities);
      made += steps;
      const text = wholeCharacters(collector.completions()[0]!.text);
      // The pieces can only be added to: text that a later token changes waits for the end.
      if (text.length > told.length && text.startsWith(told)) {
        const piece = text.slice(told.length);
        told = text;
        yield piece;
      }
    }
  } finally {
    decoder.dispose();
    tf.dispose(contextTensors(context));
  }
  const [completion] = collector.completions();
  const rest = completion!.text.slice(told.length);
  if (rest !== '') yield rest;
  return completion!;
}

/** Without the replacement characters that stand at the end for the beginning of a character of several tokens. */
const wholeCharacters = (text: string): string => text.replace(/\uFFFD+$/, '');
