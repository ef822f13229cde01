import { ConfigError, InputError, QPonderError, type RgbImage } from '../core/index.ts';
import { isNodeStream, isWebStream, type Picture, untilAborted } from './inputs/index.ts';
import type { ScoringMode } from './result.ts';
import {
  asScore,
  type BatchItem,
  type Score,
  type ScoreOptions,
  type ScoringContext,
  settle,
} from './score.ts';
import { scoreImages } from './score-images.ts';

export interface BatchOptions extends ScoreOptions {
  /** Pictures opened at the same time, so many are in memory at their full size. Default 4. */
  concurrency?: number;
}

/** Of a series: as many pictures are in memory at the model's size at once. */
const SERIES_BATCH = 32;
const CONCURRENCY = 4;

type Settled<T> = T & { mode: ScoringMode };

interface Opened {
  index: number;
  image: RgbImage;
  openMs: number;
}

/** Scores opened pictures together. */
async function scoreOpened(
  opened: readonly Opened[],
  context: ScoringContext,
  options: Settled<ScoreOptions>,
): Promise<Score[]> {
  context.requireOpen();
  const startedAt = performance.now();
  const results = await scoreImages(
    context.model,
    context.prompt,
    opened.map(({ image }) => image),
    options,
  );
  const shared = { modelMs: performance.now() - startedAt, sharedBy: opened.length };
  return results.map((result, i) =>
    asScore(result, context, options, { openMs: opened[i]!.openMs, ...shared }),
  );
}

async function open(
  input: Picture,
  index: number,
  context: ScoringContext,
  signal?: AbortSignal,
): Promise<Opened> {
  const startedAt = performance.now();
  const image = await context.open(input, signal);
  return { index, image, openMs: performance.now() - startedAt };
}

/** The same InputError with the picture that it is about; of any other error its own words must do. */
export function namedError(error: unknown, name: string): unknown {
  if (!(error instanceof InputError)) return error;
  return new InputError(`${name}: ${error.message}`, {
    cause: error,
    ...(error.hint === undefined ? {} : { hint: error.hint }),
  });
}

/**
 * All or nothing: the first picture that cannot be opened is the error, by its name or its place where there are
 * several.
 */
export async function scoreList(
  inputs: readonly Picture[],
  context: ScoringContext,
  given: ScoreOptions | undefined,
  names: readonly string[] = [],
): Promise<Score[]> {
  context.requireOpen();
  const options = settle(given, context);
  const opened: Opened[] = [];
  for (const [index, input] of inputs.entries()) {
    try {
      opened.push(await open(input, index, context, options.signal));
    } catch (error) {
      if (options.signal?.aborted || (inputs.length === 1 && names.length === 0)) throw error;
      throw namedError(error, names[index] ?? `picture ${index + 1} of ${inputs.length}`);
    }
  }
  return scoreOpened(opened, context, options);
}

/**
 * Scores a series of any length as it comes, in order. A picture that cannot be opened has its error as its item,
 * and the series goes on. The source is read only as results are taken, at most one batch ahead.
 *
 * Throws what ends the whole: the signal's reason, a ConfigError, an EngineError, and the source's own error, this
 * one after the items before it.
 */
export async function* scoreSeries(
  inputs: Iterable<Picture> | AsyncIterable<Picture>,
  context: ScoringContext,
  given: BatchOptions | undefined,
): AsyncGenerator<BatchItem, void, undefined> {
  context.requireOpen();
  requireSeries(inputs);
  const options = settle({ batchSize: SERIES_BATCH, ...given }, context);
  const { concurrency = CONCURRENCY, signal, firstIndex = 0 } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new ConfigError(`concurrency is ${String(concurrency)}, allowed is a whole number from 1`);
  }
  const source = new Source(inputs, signal);
  try {
    for (let first = 0; !source.ended; ) {
      const chunk = await openChunk(source, first, context, { size: options.batchSize, concurrency, signal });
      first += chunk.length;
      const readable = chunk.filter((one): one is Opened => 'image' in one);
      const scores =
        readable.length === 0
          ? []
          : await scoreOpened(readable, context, {
              ...options,
              firstIndex: firstIndex + readable[0]!.index,
            });
      for (const one of chunk) {
        if ('image' in one) yield { index: one.index, score: scores.shift()!, error: null };
        else yield one;
      }
    }
    if (source.failure !== null) throw source.failure.error;
  } finally {
    source.close();
  }
}

function requireSeries(inputs: unknown): void {
  const bytes =
    typeof inputs === 'string' ||
    inputs instanceof Uint8Array ||
    (typeof inputs === 'object' &&
      inputs !== null &&
      (isWebStream(inputs) || isNodeStream(inputs)) &&
      (inputs as { readableObjectMode?: boolean }).readableObjectMode !== true);
  if (bytes) {
    throw new InputError('scoreBatch takes a list of pictures, got a single one', {
      hint: 'use score, or put it into a list',
    });
  }
}

/** The series, read one by one. */
class Source {
  ended = false;
  /** What the source itself threw. */
  failure: { error: unknown } | null = null;
  readonly #iterator: Iterator<Picture> | AsyncIterator<Picture>;
  readonly #signal: AbortSignal | undefined;

  constructor(inputs: Iterable<Picture> | AsyncIterable<Picture>, signal: AbortSignal | undefined) {
    this.#iterator =
      Symbol.asyncIterator in inputs ? inputs[Symbol.asyncIterator]() : inputs[Symbol.iterator]();
    this.#signal = signal;
  }

  /** The next picture; none once the source has ended or failed. */
  async next(): Promise<{ picture: Picture } | null> {
    try {
      const coming = Promise.resolve(this.#iterator.next());
      const { done, value } = await (this.#signal ? untilAborted(coming, this.#signal) : coming);
      if (!done) return { picture: value };
    } catch (error) {
      if (this.#signal?.aborted) throw error;
      this.failure = { error };
    }
    this.ended = true;
    return null;
  }

  /** Lets the source clean up if it has not ended. A source that is just waiting is not waited for. */
  close(): void {
    if (this.ended) return;
    // Whoever stopped listening has no use for what the source still says.
    Promise.resolve(this.#iterator.return?.()).catch(() => undefined);
  }
}

type Failed = Extract<BatchItem, { score: null }>;

async function openChunk(
  source: Source,
  first: number,
  context: ScoringContext,
  limits: { size: number; concurrency: number; signal: AbortSignal | undefined },
): Promise<(Opened | Failed)[]> {
  const { size, concurrency, signal } = limits;
  const results: (Opened | Failed)[] = [];
  const running = new Set<Promise<void>>();
  const defects: unknown[] = [];
  while (results.length + running.size < size && defects.length === 0) {
    signal?.throwIfAborted();
    if (running.size >= concurrency) {
      await Promise.race(running);
      continue;
    }
    const next = await source.next();
    if (next === null) break;
    const index = first + results.length + running.size;
    const work = open(next.picture, index, context, signal)
      .then(
        (opened) => void results.push(opened),
        (error: unknown) => {
          // One bad picture must not cost the others their score. Anything else is a defect, or the abort.
          if (error instanceof QPonderError) results.push({ index, score: null, error });
          else defects.push(error);
        },
      )
      .finally(() => running.delete(work));
    running.add(work);
  }
  await Promise.all(running);
  if (defects.length > 0) throw defects[0];
  return results.sort((a, b) => a.index - b.index);
}
