import type { RgbImage, Rng } from '../core/index.ts';
import { mirrorImage } from '../data/index.ts';
import { runPending, type tf } from '../engine/index.ts';
import {
  encodeImageFeatures,
  type ImageFeatures,
  type Network,
  type ProcessedImage,
  preprocess,
  type VisionLanguageModel,
} from '../model/index.ts';

interface Entry {
  picture: ProcessedImage;
  features: tf.Tensor2D | undefined;
}

/**
 * Pictures as a frozen vision tower sees them, kept from step to step: each training picture, plain and mirrored, is
 * prepared and encoded once as long as there is room for it. Each is encoded alone, so that its features do not
 * depend on what it is batched with, and a resumed run has the very same ones. Not for views, which are cut at random.
 */
export class PictureFeatures {
  readonly #model: VisionLanguageModel;
  readonly #maxBytes: number;
  /** By record and side; the least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #keys = new WeakMap<ProcessedImage, string>();
  #bytes = 0;
  /** Pictures that were encoded, and that needed not be. */
  readonly counts = { encoded: 0, kept: 0 };

  /** @param maxBytes room for prepared pictures and their features; what a step needs is kept beyond it */
  constructor(model: VisionLanguageModel, maxBytes: number) {
    this.#model = model;
    this.#maxBytes = maxBytes;
  }

  /** Like `trainingPicture` of a whole picture, with the same draw. */
  picture(record: number, image: RgbImage, flip: boolean, rng: Rng): ProcessedImage {
    const mirrored = flip && rng.uniform() < 0.5;
    const key = `${record} ${mirrored}`;
    const kept = this.#entries.get(key);
    if (kept !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, kept);
      return kept.picture;
    }
    const picture = preprocess(mirrored ? mirrorImage(image) : image, this.#model.processor);
    this.#entries.set(key, { picture, features: undefined });
    this.#keys.set(picture, key);
    this.#bytes += picture.patches.byteLength;
    return picture;
  }

  /** Features of pictures that `picture` gave, in this step or an earlier one. They stay this object's: do not dispose them. */
  async of(pictures: Iterable<ProcessedImage>): Promise<ImageFeatures> {
    const features = new Map<ProcessedImage, tf.Tensor2D>();
    for (const picture of new Set(pictures)) {
      const entry = this.#entryOf(picture);
      if (entry.features === undefined) {
        entry.features = encodeImageFeatures(this.#model as Network, [picture]).get(picture)!;
        await runPending();
        this.#bytes += entry.features.size * 4;
        this.counts.encoded++;
      } else this.counts.kept++;
      features.set(picture, entry.features);
    }
    this.#makeRoom(features);
    return features;
  }

  /** One that had to make room meanwhile, while somebody held its picture, comes back. */
  #entryOf(picture: ProcessedImage): Entry {
    const key = this.#keys.get(picture);
    if (key === undefined) throw new RangeError('PictureFeatures: the picture is none of these');
    const kept = this.#entries.get(key);
    if (kept !== undefined) return kept;
    const entry: Entry = { picture, features: undefined };
    this.#entries.set(key, entry);
    this.#bytes += picture.patches.byteLength;
    return entry;
  }

  #makeRoom(needed: ImageFeatures): void {
    for (const [key, { picture, features }] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) return;
      if (needed.has(picture)) continue;
      this.#entries.delete(key);
      this.#bytes -= picture.patches.byteLength + (features === undefined ? 0 : features.size * 4);
      features?.dispose();
    }
  }

  dispose(): void {
    for (const { features } of this.#entries.values()) features?.dispose();
    this.#entries.clear();
    this.#bytes = 0;
  }
}
