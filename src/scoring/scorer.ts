import { ConfigError, InputError, type RgbImage } from '../core/index.ts';
import { loadShippedPrompt, type RenderedPrompt, renderPrompt } from '../data/index.ts';
import { type EngineOptions, isEngineRunning, startEngine } from '../engine/index.ts';
import {
  disposeParameters,
  loadModel,
  requireRgbImage,
  requireViewable,
  resizeForModel,
  scaleForViews,
  smartResize,
  type VisionLanguageModel,
  weightsSha256,
} from '../model/index.ts';
import { type Comparison, comparePictures } from './compare.ts';
import { defaultModel } from './default-model.ts';
import { type InputOptions, type InputRules, inputRules, openPicture, type Picture } from './inputs/index.ts';
import type { ScoringMode } from './result.ts';
import type { BatchItem, Score, ScoreOptions, ScoringContext } from './score.ts';
import { requireScoreOptions } from './score-images.ts';
import { type BatchOptions, scoreList, scoreSeries } from './score-many.ts';
import { type ScoreEvent, streamScore } from './score-stream.ts';

type Provider = NonNullable<EngineOptions['provider']>;

export interface ScorerOptions {
  /**
   * Checkpoint folder in Hugging Face layout, or a model that is loaded already. Default: what `q-ponder demo` left
   * in the working folder; a ConfigError that says how to get a model where there is none.
   */
  model?: string | VisionLanguageModel;
  /** Default `greedy`. */
  mode?: ScoringMode;
  /** Name of a shipped prompt. Default `student/quality.v1`, the one the stages train with. */
  prompt?: string;
  /** Where to compute, short for `engine.provider`. */
  device?: Provider;
  /** Used only when the engine does not run yet. */
  engine?: EngineOptions;
  /** Limits of what is opened, for every picture. */
  input?: InputOptions;
}

/** Where a score came from, for records and for repeating it. */
export interface ScorerProvenance {
  /** Folder of the weights. */
  model: string;
  /** SHA-256 of the weights (`weightsSha256`); null for a model given in memory. */
  modelSha256: string | null;
  prompt: { id: string; version: number; hash: string };
  mode: ScoringMode;
}

export interface Scorer {
  readonly provenance: ScorerProvenance;
  readonly model: VisionLanguageModel;
  /** Limits and permissions of what is opened, with their defaults. */
  readonly inputRules: Readonly<InputRules>;
  /**
   * Scores one picture. The errors are those of `openPicture`; InputError also for a picture that the model cannot
   * take, ConfigError for an option that is not allowed.
   */
  score(input: Picture, options?: ScoreOptions): Promise<Score>;
  /** Scores a list together, in order, all or nothing: the first picture that cannot be opened is the error. */
  scoreBatch(inputs: readonly Picture[], options?: ScoreOptions): Promise<Score[]>;
  /**
   * Scores a series of any length as it comes, in order and in bounded memory: `batchSize` pictures (default 32) at
   * the model's size, `concurrency` of them at their full size. A picture that cannot be opened has its error as its
   * item, and the series goes on. `list.values()` makes a series of a list.
   */
  scoreBatch(
    inputs: Iterable<Picture> | AsyncIterable<Picture>,
    options?: BatchOptions,
  ): AsyncGenerator<BatchItem, void, undefined>;
  /** Scores one picture, its words as they come; see `ScoreEvent`. */
  scoreStream(input: Picture, options?: ScoreOptions): AsyncGenerator<ScoreEvent, void, undefined>;
  /** Which of two pictures is better, and how sure the model is. In the mode `expected` unless another one is named or can tell. */
  compare(a: Picture, b: Picture, options?: ScoreOptions): Promise<Comparison>;
  /** Opens a picture under this scorer's limits, and shrinks it; the same scores follow from it. */
  open(input: Picture, options?: { signal?: AbortSignal }): Promise<RgbImage>;
  /** InputError for a picture that the model cannot take: one that is empty, or far longer than it is wide. */
  requireScorable(image: RgbImage): void;
  /**
   * The picture at the size the model sees, where that is smaller: scored alike, and many of them fit into
   * memory. InputError as `requireScorable`.
   */
  shrink(image: RgbImage): RgbImage;
  /** Frees the weights that the scorer loaded itself. */
  close(): void;
}

/** Loads a model and returns what scores pictures with it. */
export async function createScorer(options: ScorerOptions = {}): Promise<Scorer> {
  const { mode = 'greedy', prompt: promptName = 'student/quality.v1' } = options;
  requireScoreOptions({ mode });
  const rules = inputRules(options.input);
  const engine = engineOptions(options);
  const given = options.model ?? (await defaultModel());
  if (typeof given !== 'string' && (typeof given.processor !== 'object' || given.processor === null)) {
    throw new ConfigError('createScorer needs a model', {
      hint: 'give model: a checkpoint folder, or what loadModel returned',
    });
  }
  const prompt: RenderedPrompt = renderPrompt(await loadShippedPrompt(promptName));
  // Asked for again with other options, a running engine refuses: whoever started it has chosen.
  if (!isEngineRunning()) await startEngine(engine);
  const own = typeof given === 'string';
  const model = typeof given === 'string' ? await loadModel(given) : given;
  const modelSha256 = own ? await weightsSha256(model.folder) : null;
  const { patchSize, mergeSize, minPixels, maxPixels, views } = model.processor;
  const limits = { factor: patchSize * mergeSize, minPixels, maxPixels };
  let closed = false;

  const requireScorable = (image: RgbImage): void => {
    requireRgbImage(image);
    if (views === null) smartResize(image.height, image.width, limits);
    else requireViewable(image, views);
  };

  function shrink(image: RgbImage): RgbImage {
    requireRgbImage(image);
    if (views !== null) {
      requireViewable(image, views);
      return Math.min(image.width, image.height) > views.shortSide ? scaleForViews(image, views) : image;
    }
    const target = smartResize(image.height, image.width, limits);
    const again = smartResize(target.height, target.width, limits);
    // Long strips are resized once more by a second pass: these stay as they are, for the score's sake.
    const stays = again.height === target.height && again.width === target.width;
    const smaller = target.height * target.width < image.height * image.width;
    return stays && smaller ? resizeForModel(image, model.processor) : image;
  }

  const open = async (input: Picture, signal?: AbortSignal): Promise<RgbImage> =>
    shrink(await openPicture(input, { ...rules, ...(signal === undefined ? {} : { signal }) }));
  const requireOpen = (): void => {
    if (closed) throw new InputError('this scorer is closed', { hint: 'create another one' });
  };
  const context: ScoringContext = { model, prompt, mode, modelSha256, open, requireOpen };

  function scoreBatch(inputs: readonly Picture[], settings?: ScoreOptions): Promise<Score[]>;
  function scoreBatch(
    inputs: Iterable<Picture> | AsyncIterable<Picture>,
    settings?: BatchOptions,
  ): AsyncGenerator<BatchItem, void, undefined>;
  function scoreBatch(
    inputs: readonly Picture[] | Iterable<Picture> | AsyncIterable<Picture>,
    settings?: BatchOptions,
  ): Promise<Score[]> | AsyncGenerator<BatchItem, void, undefined> {
    if (Array.isArray(inputs)) return scoreList(inputs as readonly Picture[], context, settings);
    if (isSeries(inputs)) return scoreSeries(inputs, context, settings);
    return Promise.reject(new InputError('scoreBatch takes a list of pictures, or an iterable of them'));
  }

  return {
    provenance: {
      model: model.folder,
      modelSha256,
      prompt: { id: prompt.id, version: prompt.version, hash: prompt.hash },
      mode,
    },
    model,
    inputRules: rules,
    scoreBatch,
    requireScorable,
    shrink,
    open: (input, settings) => open(input, settings?.signal),
    score: async (input, settings) => (await scoreList([input], context, settings))[0]!,
    scoreStream: (input, settings) => streamScore(input, context, settings),
    compare: (a, b, settings) => comparePictures(a, b, context, settings),
    close: () => {
      if (own && !closed) disposeParameters(model.parameters);
      closed = true;
    },
  };
}

/** ConfigError for two answers to where to compute. */
function engineOptions({ device, engine = {} }: ScorerOptions): EngineOptions {
  if (device === undefined) return engine;
  if (engine.provider !== undefined && engine.provider !== device) {
    throw new ConfigError(`device is ${device}, engine.provider is ${engine.provider}: give one of them`);
  }
  return { ...engine, provider: device };
}

const isSeries = (inputs: unknown): inputs is Iterable<Picture> | AsyncIterable<Picture> => {
  if (typeof inputs === 'string') return true;
  if (typeof inputs !== 'object' || inputs === null) return false;
  return Symbol.asyncIterator in inputs || Symbol.iterator in inputs;
};
