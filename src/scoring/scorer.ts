import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { asStorageError, ConfigError, InputError, type RgbImage } from '../core/index.ts';
import { decodeImage, loadShippedPrompt, type RenderedPrompt, renderPrompt } from '../data/index.ts';
import { type EngineOptions, startEngine, tf } from '../engine/index.ts';
import { disposeParameters, loadModel, smartResize, type VisionLanguageModel } from '../model/index.ts';
import type { ScoreMode, ScoreResult } from './result.ts';
import { type ScoreImagesOptions, scoreImages } from './score-images.ts';

export interface ScorerOptions {
  /** Checkpoint folder in Hugging Face layout, or a model that is loaded already. */
  model: string | VisionLanguageModel;
  mode?: ScoreMode;
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
  mode: ScoreMode;
}

export interface Scorer {
  readonly provenance: ScorerProvenance;
  readonly model: VisionLanguageModel;
  /** Scores one picture: a path, an encoded file in a Buffer, or pixels. InputError for what is no image. */
  score(input: string | Buffer | RgbImage, options?: ScoreImagesOptions): Promise<ScoreResult>;
  /** Scores many at once, in order. The first input that is no image is an InputError. */
  scoreBatch(
    inputs: readonly (string | Buffer | RgbImage)[],
    options?: ScoreImagesOptions,
  ): Promise<ScoreResult[]>;
  /** InputError for a picture that the model cannot take: one that is empty, or far longer than it is wide. */
  requireScorable(image: RgbImage): void;
  /** Frees the weights that the scorer loaded itself. */
  close(): void;
}

const isPixels = (input: string | Buffer | RgbImage): input is RgbImage =>
  typeof input === 'object' && !Buffer.isBuffer(input);

/** Loads a model and returns what scores pictures with it. */
export async function createScorer(options: ScorerOptions): Promise<Scorer> {
  const { mode = 'greedy', prompt: promptName = 'student/quality.v1' } = options;
  if (!['greedy', 'expected', 'sampled'].includes(mode)) {
    throw new ConfigError(`mode is "${mode}", allowed are greedy, expected and sampled`);
  }
  // Asked for again with other options, a running engine refuses: whoever started it has chosen.
  if (!tf.getBackend()) await startEngine(options.engine ?? {});
  const prompt: RenderedPrompt = renderPrompt(await loadShippedPrompt(promptName));
  const own = typeof options.model === 'string';
  const model = typeof options.model === 'string' ? await loadModel(options.model) : options.model;
  const modelSha256 = own ? await hashOf(join(model.folder, 'model.safetensors')) : null;
  const { patchSize, mergeSize, minPixels, maxPixels } = model.processor;
  const limits = { factor: patchSize * mergeSize, minPixels, maxPixels };
  let closed = false;

  async function scoreBatch(
    inputs: readonly (string | Buffer | RgbImage)[],
    settings: ScoreImagesOptions = {},
  ): Promise<ScoreResult[]> {
    if (closed) throw new InputError('this scorer is closed', { hint: 'create another one' });
    const images: RgbImage[] = [];
    for (const input of inputs) images.push(isPixels(input) ? input : await decodeImage(input));
    return scoreImages(model, prompt, images, { mode, ...settings });
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
    requireScorable: ({ height, width }) => void smartResize(height, width, limits),
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
