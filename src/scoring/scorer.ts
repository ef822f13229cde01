import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { asStorageError, ConfigError, InputError, type RgbImage } from '../core/index.ts';
import { decodeImage, loadShippedPrompt, type RenderedPrompt, renderPrompt } from '../data/index.ts';
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
} from '../model/index.ts';
import type { ScoreResult, ScoringMode } from './result.ts';
import { requireScoreOptions, type ScoreImagesOptions, scoreImages } from './score-images.ts';

export interface ScorerOptions {
  /** Checkpoint folder in Hugging Face layout, or a model that is loaded already. */
  model: string | VisionLanguageModel;
  mode?: ScoringMode;
  /** Name of a shipped prompt. Default `student/quality.v1`, the one the stages train with. */
  prompt?: string;
  /** Used only when the engine does not run yet. */
  engine?: EngineOptions;
}

/** Where a score came from, for records and for repeating it. */
export interface ScorerProvenance {
  /** Folder of the weights. */
  model: string;
  /** SHA-256 of model.safetensors; null for a model given in memory. */
  modelSha256: string | null;
  prompt: { id: string; version: number; hash: string };
  mode: ScoringMode;
}

export interface Scorer {
  readonly provenance: ScorerProvenance;
  readonly model: VisionLanguageModel;
  /** Scores one picture. InputError for what is no image, ConfigError for an option that is not allowed. */
  score(input: Picture, options?: ScoreImagesOptions): Promise<ScoreResult>;
  /** Scores many at once, in order. The first input that is no image is an InputError. */
  scoreBatch(inputs: readonly Picture[], options?: ScoreImagesOptions): Promise<ScoreResult[]>;
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

/** A path, an encoded file in memory (Buffer or Uint8Array), or pixels. */
export type Picture = string | Uint8Array | RgbImage;

async function openPicture(input: Picture): Promise<RgbImage> {
  if (typeof input === 'string') return decodeImage(input);
  if (input instanceof Uint8Array) {
    return decodeImage(Buffer.from(input.buffer, input.byteOffset, input.byteLength));
  }
  requireRgbImage(input);
  return input;
}

/** Loads a model and returns what scores pictures with it. */
export async function createScorer(options: ScorerOptions): Promise<Scorer> {
  const { mode = 'greedy', prompt: promptName = 'student/quality.v1' } = options;
  requireScoreOptions({ mode });
  if (typeof options.model !== 'string' && typeof options.model?.processor !== 'object') {
    throw new ConfigError('createScorer needs a model', {
      hint: 'give model: a checkpoint folder, or what loadModel returned',
    });
  }
  const prompt: RenderedPrompt = renderPrompt(await loadShippedPrompt(promptName));
  // Asked for again with other options, a running engine refuses: whoever started it has chosen.
  if (!isEngineRunning()) await startEngine(options.engine ?? {});
  const own = typeof options.model === 'string';
  const model = typeof options.model === 'string' ? await loadModel(options.model) : options.model;
  const modelSha256 = own ? await hashOf(join(model.folder, 'model.safetensors')) : null;
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

  async function scoreBatch(inputs: readonly Picture[], given?: ScoreImagesOptions): Promise<ScoreResult[]> {
    const settings = given ?? {};
    if (closed) throw new InputError('this scorer is closed', { hint: 'create another one' });
    if (!Array.isArray(inputs)) throw new InputError('scoreBatch takes a list of pictures');
    requireScoreOptions(settings);
    const images: RgbImage[] = [];
    for (const input of inputs) images.push(shrink(await openPicture(input)));
    return scoreImages(model, prompt, images, { ...settings, mode: settings.mode ?? mode });
  }

  return {
    provenance: {
      model: model.folder,
      modelSha256,
      prompt: { id: prompt.id, version: prompt.version, hash: prompt.hash },
      mode,
    },
    model,
    scoreBatch,
    requireScorable,
    shrink,
    score: async (input, settings) => (await scoreBatch([input], settings))[0]!,
    close: () => {
      if (own && !closed) disposeParameters(model.parameters);
      closed = true;
    },
  };
}

/** SHA-256 of a file; null where sharded weights make it several files. */
async function hashOf(path: string): Promise<string | null> {
  const hash = createHash('sha256');
  try {
    for await (const part of createReadStream(path)) hash.update(part as Buffer);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw asStorageError(error, `reading ${path}`);
  }
  return hash.digest('hex');
}
