import { ConfigError, type Progress, RemoteError, type RgbImage, silentProgress } from '../core/index.ts';
import { type ImageRecord, loadPixels } from '../data/index.ts';
import type { ScoreImagesOptions, ScoreResult, Scorer } from '../scoring/index.ts';
import type { Prediction } from './predictions.ts';
import { type EvaluationIdentity, type Reading, readingName } from './run-identity.ts';
import { openRows, type PredictionRows, rowsInMemory } from './run-rows.ts';

export interface EvaluationInput {
  records: readonly ImageRecord[];
  images: readonly RgbImage[];
  /** Seed of the training run or sample, where several are compared. */
  seed?: number;
}

/**
 * Scores images through the public scorer, so that what is measured is what is served, and puts the truth
 * beside each answer. Records without a MOS are left out and counted by the caller.
 */
export async function predict(
  scorer: Scorer,
  { records, images, seed }: EvaluationInput,
  options: ScoreImagesOptions = {},
): Promise<Prediction[]> {
  const progress: Progress = options.progress ?? silentProgress;
  const known = records.flatMap((record, index) => (record.mos === null ? [] : [index]));
  const results = await scorer.scoreBatch(
    known.map((index) => images[index]!),
    { ...options, progress },
  );
  return known.map((index, i) => predictionOf(records[index]!, results[i]!, seed));
}

/** What answers images for an evaluation. */
export interface Answerer {
  identity: Pick<EvaluationIdentity, 'model' | 'prompt'>;
  /** Images of one call of `answer`, which it may hold in memory at once. */
  chunk(reading: Reading): number;
  /** Whether a call must be given its whole chunk, as the answers depend on an image's place in it. */
  wholeChunks: boolean;
  /** ConfigError for a reading that it cannot give. */
  requireReading(reading: Reading): void;
  /**
   * Predictions for `records`, the first of which is the image number `firstIndex` of its split. What could not be
   * asked is left out and told to `onFailure`.
   */
  answer(
    records: readonly ImageRecord[],
    folder: string,
    reading: Reading,
    context: {
      firstIndex: number;
      signal?: AbortSignal | undefined;
      onFailure: (reason: string, error?: RemoteError) => void;
    },
  ): Promise<Prediction[]>;
}

export interface StreamOptions {
  answerer: Answerer;
  reading: Reading;
  /** All with a MOS. */
  records: readonly ImageRecord[];
  /** Folder of the data set. */
  dataset: string;
  identity: EvaluationIdentity;
  /** Folder for predictions.jsonl; null keeps the rows in memory alone. */
  folder: string | null;
  label?: string;
  progress?: Progress;
  signal?: AbortSignal | undefined;
}

export interface StreamResult {
  /** In the order of the records. */
  predictions: Prediction[];
  /** Of these, the ones that an earlier process had written. */
  kept: number;
  /** Images that could not be asked, by reason. Asked again by the next run. */
  failed: Readonly<Record<string, number>>;
  /** What the first failed request said: address, model, status and the server's words. */
  firstFailure: string | null;
}

/**
 * Evaluates a split part by part: pixels of one part are in memory at a time, its rows are on the disk before the
 * next begins, and a run that was killed goes on with the first image it has no row for, to the same bytes.
 */
export async function evaluateSplit(options: StreamOptions): Promise<StreamResult> {
  const { answerer, reading, records, dataset, identity, folder, signal } = options;
  const progress = options.progress ?? silentProgress;
  answerer.requireReading(reading);
  const rows: PredictionRows = folder === null ? rowsInMemory() : await openRows(folder, identity);
  const found = new Map(rows.kept);
  const failed: Record<string, number> = {};
  let firstFailure: string | null = null;
  let lost = 0;
  const size = answerer.chunk(reading);
  progress.start(options.label ?? `evaluate, ${readingName(reading)}`, records.length);
  progress.update(found.size);
  try {
    for (let at = 0; at < records.length; at += size) {
      signal?.throwIfAborted();
      const part = records.slice(at, at + size);
      const missing = part.filter(({ id }) => !found.has(id));
      if (missing.length === 0) continue;
      let last: RemoteError | undefined;
      const answers = await answerer.answer(answerer.wholeChunks ? part : missing, dataset, reading, {
        firstIndex: at,
        signal,
        onFailure: (reason, error) => {
          failed[reason] = (failed[reason] ?? 0) + 1;
          last = error ?? last;
          firstFailure ??= error?.message ?? null;
        },
      });
      lost = answers.length === 0 ? lost + 1 : 0;
      if (lost === MOST_LOST_PARTS && last !== undefined) throw givenUp(last, records.length - found.size);
      const fresh = answers.filter(({ id }) => !found.has(id));
      await rows.append(fresh);
      for (const row of fresh) found.set(row.id, row);
      progress.update(found.size);
    }
  } finally {
    progress.stop();
    await rows.close();
  }
  return {
    predictions: records.flatMap(({ id }) => found.get(id) ?? []),
    kept: rows.kept.size,
    failed,
    firstFailure,
  };
}

/** So many parts in a row without one answer are taken for a server that is gone. */
const MOST_LOST_PARTS = 3;

const givenUp = (last: RemoteError, open: number): RemoteError =>
  new RemoteError(
    `${open} image(s) are unanswered; given up, as nothing was answered any more: ${last.message}`,
    {
      reason: last.reason,
      status: last.status,
      ...(last.hint === undefined ? {} : { hint: last.hint }),
      cause: last,
    },
  );

/** Answers from a checkpoint, by the public scorer. */
export function checkpointAnswerer(
  scorer: Scorer,
  { sha256, batchSize }: { sha256: string; batchSize: number },
): Answerer {
  return {
    identity: { model: { kind: 'checkpoint', sha256 }, prompt: scorer.provenance.prompt },
    chunk: () => batchSize,
    wholeChunks: true,
    requireReading: () => undefined,
    answer: async (records, folder, reading, { firstIndex, signal }) => {
      const images = await loadPixels(records, folder, {
        prepare: (image) => scorer.shrink(image),
        ...(signal === undefined ? {} : { signal }),
      });
      const { temperature = 1, topP = 1, seed = 0, samples = 1, mode, maxNewTokens } = reading;
      return predict(
        scorer,
        { records, images },
        {
          ...{ mode, maxNewTokens, temperature, topP, seed, samples, batchSize, firstIndex },
          ...(signal === undefined ? {} : { signal }),
        },
      );
    },
  };
}

/** ConfigError unless a server, which gives text and no probabilities, can be read so. */
export function requireTextReading({ mode }: Pick<Reading, 'mode'>): void {
  if (mode === 'greedy' || mode === 'sampled') return;
  throw new ConfigError(
    `reading "${mode}" needs the probabilities of the words, which a server does not give`,
    {
      hint: 'use greedy or sampled for a server',
    },
  );
}

/** One prediction row. Distortions are known for generated images only; the strongest comes first. */
export function predictionOf(record: ImageRecord, result: ScoreResult, seed?: number): Prediction {
  const truth = [...record.distortions]
    .sort((a, b) => b.strength - a.strength)
    .map(({ type, level }) => ({ type, level }));
  return {
    id: record.id,
    image: record.image,
    mos: record.mos!,
    ...(record.mosStd === null ? {} : { mosStd: record.mosStd }),
    split: record.split,
    dataset: record.dataset,
    score: result.score,
    ...(result.std === undefined ? {} : { scoreStd: result.std }),
    ...(result.scoreWritten === undefined ? {} : { scoreWritten: result.scoreWritten }),
    ...(result.samples === undefined ? {} : { sampleScores: result.samples.scores }),
    status: result.status,
    text: result.text,
    ...(result.reasoning === null ? {} : { reasoning: result.reasoning }),
    ...(result.levelStated === null ? {} : { levelStated: result.levelStated }),
    distortionsNamed: result.distortions.map(({ type, level }) => ({
      type,
      ...(level === undefined ? {} : { level }),
    })),
    ...(record.source === 'imported' ? {} : { distortionsTrue: truth }),
    wellFormed: result.wellFormed,
    finishReason: result.finishReason,
    ...(seed === undefined ? {} : { seed }),
  };
}
