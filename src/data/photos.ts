import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { asStorageError, InputError, type RgbImage, Rng } from '../core/index.ts';
import { decodeImage } from './decode.ts';
import type { Split } from './records.ts';

const PHOTO_NAME = /\.(png|jpe?g|webp|tiff?|avif)$/i;
/** Decoded photographs kept in memory by one process, in bytes. */
const CACHE_LIMIT = 256 * 2 ** 20;

/** A user's own photographs, each belonging to one split. */
export class PhotoCollection {
  readonly folder: string;
  readonly #bySplit: Record<Split, string[]>;
  readonly #cache = new Map<string, RgbImage>();
  #cachedBytes = 0;

  private constructor(folder: string, bySplit: Record<Split, string[]>) {
    this.folder = folder;
    this.#bySplit = bySplit;
  }

  /**
   * Lists the photographs and deals them out by seed: a tenth each to validation, test and cross (at least one),
   * the rest to train. Fewer than four photographs all go to train.
   */
  static async open(folder: string, seed: number): Promise<PhotoCollection> {
    let names: string[];
    try {
      names = (await readdir(folder)).filter((name) => PHOTO_NAME.test(name)).sort();
    } catch (error) {
      throw asStorageError(error, `reading the photographs in ${folder}`);
    }
    if (names.length === 0) {
      throw new InputError(`${folder} holds no photographs`, {
        hint: 'put PNG, JPEG, WebP, TIFF or AVIF files directly into it',
      });
    }
    const dealt = new Rng(seed).fork('photographs').shuffle(names);
    const tenth = names.length < 4 ? 0 : Math.max(1, Math.floor(names.length / 10));
    return new PhotoCollection(folder, {
      validation: dealt.slice(0, tenth),
      test: dealt.slice(tenth, 2 * tenth),
      cross: dealt.slice(2 * tenth, 3 * tenth),
      train: dealt.slice(3 * tenth),
    });
  }

  namesOf(split: Split): readonly string[] {
    return this.#bySplit[split];
  }

  /** A random square window of a photograph, scaled down (never up) by a random factor to `size` pixels. */
  async crop(name: string, size: number, rng: Rng): Promise<RgbImage> {
    const photo = await this.#load(name);
    const largest = Math.min(photo.width, photo.height);
    if (largest < size) {
      throw new InputError(
        `${join(this.folder, name)} is ${photo.width}x${photo.height}, at least ${size}x${size} is needed`,
        { hint: 'remove it from the folder, or make smaller images' },
      );
    }
    // Log-uniform, at least 1.5 times the target where the photograph allows: scaling down hides its own flaws.
    const smallest = Math.min(largest, 1.5 * size);
    const edge = Math.floor(smallest * (largest / smallest) ** rng.uniform());
    const { data, width, height } = photo;
    const pixels = await sharp(data, { raw: { width, height, channels: 3 } })
      .extract({
        left: rng.integer(width - edge + 1),
        top: rng.integer(height - edge + 1),
        width: edge,
        height: edge,
      })
      .resize(size, size, { kernel: 'lanczos3' })
      .raw()
      .toBuffer();
    return { data: new Uint8Array(pixels), width: size, height: size };
  }

  async #load(name: string): Promise<RgbImage> {
    const known = this.#cache.get(name);
    if (known !== undefined) return known;
    const photo = await decodeImage(join(this.folder, name));
    if (this.#cachedBytes + photo.data.length > CACHE_LIMIT) {
      this.#cache.clear();
      this.#cachedBytes = 0;
    }
    this.#cache.set(name, photo);
    this.#cachedBytes += photo.data.length;
    return photo;
  }
}
