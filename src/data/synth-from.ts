import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { asStorageError, InputError, listNames, type RgbImage, Rng, sha256OfFile } from '../core/index.ts';
import { decodeImage } from './decode.ts';
import { DISTORTION_SETS, type SynthesizedDistortion } from './distortion-types.ts';
import { applyDistortion } from './distortions.ts';
import { GENERATOR_VERSION, type GeneratedImage } from './generate.ts';
import { likingOf, qualityOf, rate } from './raters.ts';
import type { ImageRecord, Split } from './records.ts';
import { busynessOf, detailOf } from './scenes.ts';
import { ssim } from './similarity.ts';
import type { FromConfig, SynthesisConfig } from './synth-config.ts';
import { statedDistortions } from './synth-record.ts';
import type { ImageSource } from './synth-tasks.ts';

const PHOTO_NAME = /\.(png|jpe?g|webp|tiff?|avif)$/i;
/** Below this edge distortions have no room. */
const SMALLEST_EDGE = 32;

/**
 * Every pristine photograph of a folder times types times levels, as in KADID-10k and KADIS-700k (Lin, Hosu,
 * Saupe 2019): the photograph itself, then its distorted versions, all of one group and so of one split.
 */
export class PhotographDistorter implements ImageSource {
  readonly #config: SynthesisConfig;
  readonly #from: FromConfig;
  readonly #names: Record<Split, string[]>;
  readonly #root: Rng;

  private constructor(config: SynthesisConfig, from: FromConfig, names: Record<Split, string[]>) {
    this.#config = config;
    this.#from = from;
    this.#names = names;
    this.#root = new Rng(config.seed).fork('from');
  }

  /** Lists the photographs and deals them to the splits by seed. */
  static async open(config: SynthesisConfig, from: FromConfig): Promise<PhotographDistorter> {
    const names = await photographsIn(from.folder);
    refuseEqualIds(names, from.folder);
    await refuseEqualPhotographs(names, from.folder);
    const dealt = new Rng(config.seed).fork('from', 'splits').shuffle(names);
    const validation = Math.round(from.validationShare * names.length);
    const test = Math.round(from.testShare * names.length);
    return new PhotographDistorter(config, from, {
      validation: dealt.slice(0, validation).sort(),
      test: dealt.slice(validation, validation + test).sort(),
      train: dealt.slice(validation + test).sort(),
      cross: [],
    });
  }

  scenesOf(split: Split): number {
    return this.#names[split].length;
  }

  imagesOf(split: Split): number {
    const { levels } = this.#from;
    return this.#names[split].length * (1 + this.#typesPerPhotograph() * levels.length);
  }

  #types(): readonly SynthesizedDistortion[] {
    return this.#from.types ?? DISTORTION_SETS[this.#config.distortionSet ?? 'kadid25'].seen;
  }

  #typesPerPhotograph(): number {
    const { typesPerPhotograph } = this.#from;
    const all = this.#types().length;
    return typesPerPhotograph === undefined ? all : Math.min(typesPerPhotograph, all);
  }

  async *images(split: Split, scene: number): AsyncGenerator<GeneratedImage> {
    const name = this.#names[split][scene]!;
    const stem = stemOf(name);
    const rng = this.#root.fork(name);
    const pristine = await this.#load(name);
    const busyness = busynessOf(pristine);
    const reference = `images/${stem}.png`;
    const liking = likingOf('photograph', rng.fork('liking'));
    const make = (image: RgbImage, type: SynthesizedDistortion | null, level: number): GeneratedImage => {
      const applied = type === null ? [] : [{ type, strength: level }];
      const id = type === null ? stem : `${stem}-${type}-${level}`;
      const record: ImageRecord = {
        id,
        image: `images/${id}.png`,
        dataset: 'synthetic',
        split,
        ...this.#score(pristine, image, qualityOf(applied, busyness, liking), rng.fork('raters', id)),
        content: { kind: 'photograph', busyness: round(busyness), detail: detailOf(busyness), elements: [] },
        group: `photograph-${name}`,
        ...statedDistortions(applied, 'photograph'),
        generator: { version: GENERATOR_VERSION, seed: this.#config.seed },
        ...(type === null ? {} : { reference, distortion: type, level }),
      };
      return { image, record };
    };
    yield make(pristine, null, 0);
    const chosen = new Set(rng.fork('types').shuffle(this.#types()).slice(0, this.#typesPerPhotograph()));
    for (const type of this.#types().filter((one) => chosen.has(one))) {
      for (const level of this.#from.levels) {
        // One stream for all levels of a type: the same direction, hue and places, only more of it.
        yield make(await applyDistortion(pristine, type, level, rng.fork('distortion', type)), type, level);
      }
    }
  }

  #score(
    pristine: RgbImage,
    image: RgbImage,
    quality: number,
    rng: Rng,
  ): Pick<ImageRecord, 'mos' | 'mosStd' | 'raters'> {
    const { scores } = this.#from;
    if (scores === 'none') return { mos: null, mosStd: null, raters: null };
    if (scores === 'ssim') {
      return { mos: round(1 + 4 * Math.max(0, ssim(pristine, image))), mosStd: null, raters: null };
    }
    const opinion = rate(quality, rng, this.#config.raters);
    return { mos: round(opinion.mos), mosStd: round(opinion.std), raters: opinion.raters };
  }

  /** A photograph, scaled down (never up) to the longest edge allowed. */
  async #load(name: string): Promise<RgbImage> {
    const path = join(this.#from.folder, name);
    const photo = await decodeImage(path);
    if (Math.min(photo.width, photo.height) < SMALLEST_EDGE) {
      throw new InputError(
        `${path} is ${photo.width}x${photo.height}, at least ${SMALLEST_EDGE} pixels an edge are needed`,
        { hint: 'remove it from the folder' },
      );
    }
    const factor = this.#from.longestEdge / Math.max(photo.width, photo.height);
    if (factor >= 1) return photo;
    const width = Math.max(SMALLEST_EDGE, Math.round(photo.width * factor));
    const height = Math.max(SMALLEST_EDGE, Math.round(photo.height * factor));
    const pixels = await sharp(photo.data, { raw: { width: photo.width, height: photo.height, channels: 3 } })
      .resize(width, height, { kernel: 'lanczos3', fit: 'fill' })
      .raw()
      .toBuffer();
    return { data: new Uint8Array(pixels), width, height };
  }
}

async function photographsIn(folder: string): Promise<string[]> {
  try {
    const names = (await readdir(folder)).filter((name) => PHOTO_NAME.test(name)).sort();
    if (names.length > 0) return names;
  } catch (error) {
    throw asStorageError(error, `reading the photographs in ${folder}`);
  }
  throw new InputError(`${folder} holds no photographs`, {
    hint: 'put PNG, JPEG, WebP, TIFF or AVIF files directly into it',
  });
}

/** An id made of a file name: the ending is kept, because a.png and a.jpg may both be there. */
const stemOf = (name: string): string =>
  name
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{M}\p{N}._-]/gu, '_')
    .replace(/\.([A-Za-z]+)$/, '-$1');

function refuseEqualIds(names: readonly string[], folder: string): void {
  const nameOf = new Map<string, string>();
  for (const name of names) {
    // Without case: the images may be written to a file system that does not tell A from a.
    const key = stemOf(name).toLowerCase();
    const other = nameOf.get(key);
    if (other !== undefined) {
      throw new InputError(`${folder}: ${other} and ${name} would get the same id ${stemOf(name)}`, {
        hint: 'rename one of them',
      });
    }
    nameOf.set(key, name);
  }
}

/** A photograph under two names could be trained on under one and tested on under the other. */
async function refuseEqualPhotographs(names: readonly string[], folder: string): Promise<void> {
  const bySize = new Map<number, string[]>();
  try {
    for (const name of names) {
      const { size } = await stat(join(folder, name));
      const same = bySize.get(size);
      if (same === undefined) bySize.set(size, [name]);
      else same.push(name);
    }
  } catch (error) {
    throw asStorageError(error, `reading the photographs in ${folder}`);
  }
  const byHash = new Map<string, string[]>();
  // Only files of one size can be equal: the others need not be read.
  for (const name of [...bySize.values()].filter((same) => same.length > 1).flat()) {
    const hash = await sha256OfFile(join(folder, name));
    const same = byHash.get(hash);
    if (same === undefined) byHash.set(hash, [name]);
    else same.push(name);
  }
  const equal = [...byHash.values()].filter((same) => same.length > 1);
  if (equal.length === 0) return;
  const shown = equal.slice(0, 5).map((same) => `  ${listNames(same)}`);
  const more = equal.length > 5 ? [`  ... and ${equal.length - 5} more`] : [];
  throw new InputError(
    [
      `${folder} has ${equal.length} photograph(s) under several names, equal byte for byte:`,
      ...shown,
      ...more,
    ].join('\n'),
    { hint: 'keep one of each: the others could lie in another split' },
  );
}

const round = (value: number): number => Math.round(value * 1e4) / 1e4;
