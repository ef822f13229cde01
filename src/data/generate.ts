import { parse } from 'node:path';
import { ConfigError, type RgbImage, Rng } from '../core/index.ts';
import { DISTORTION_SETS } from './distortion-types.ts';
import { applyDistortion, DISTORTIONS, type DistortionFamily } from './distortions.ts';
import { PhotoCollection } from './photos.ts';
import { cropImage, mirrorImage } from './raster.ts';
import { type AppliedDistortion, likingOf, qualityOf, rate } from './raters.ts';
import type { ImageRecord, Split } from './records.ts';
import { busynessOf, detailOf, renderScene, type SceneDescription } from './scenes.ts';
import { STRENGTH_RANGE } from './strength.ts';
import type { SynthesisConfig } from './synth-config.ts';
import { statedDistortions } from './synth-record.ts';
import type { ImageSource } from './synth-tasks.ts';

/** Changes whenever the same seed would give other bytes. */
export const GENERATOR_VERSION = '1';

export interface GeneratedImage {
  image: RgbImage;
  record: ImageRecord;
}

/** Room around an image in which its distortion is made, so that no block grid or border sits at a fixed place. */
const DISTORTION_MARGIN = 16;
/** Room around that in which crops of one scene move. */
const SCENE_MARGIN = 32;

/** The order in which light, sensor and file meet an image. */
const STAGE: Record<DistortionFamily, number> = {
  blur: 0,
  exposure: 1,
  color: 2,
  noise: 3,
  detail: 4,
  compression: 5,
};

interface Source {
  image: RgbImage;
  group: string;
  source: 'synthetic' | 'photograph';
  kind: SceneDescription['kind'];
  elements: string[];
  liking: number;
}

/** Makes any image of a data set by its index alone: nothing depends on what was made before, or where. */
export class Generator implements ImageSource {
  readonly config: SynthesisConfig;
  readonly #photos: PhotoCollection | undefined;
  readonly #root: Rng;

  private constructor(config: SynthesisConfig, photos: PhotoCollection | undefined) {
    this.config = config;
    this.#photos = photos;
    this.#root = new Rng(config.seed);
  }

  static async open(config: SynthesisConfig): Promise<Generator> {
    const { photos, seed, distortionSet = 'base', counts } = config;
    if (counts.cross > 0 && DISTORTION_SETS[distortionSet].unseen.length === 0) {
      throw new ConfigError(
        `counts.cross is ${counts.cross}, but distortionSet ${distortionSet} leaves no type unseen`,
        {
          hint: 'add --set counts.cross=0, or choose a smaller set',
        },
      );
    }
    return new Generator(config, photos === undefined ? undefined : await PhotoCollection.open(photos, seed));
  }

  imagesPerScene(split: Split): number {
    return split === 'train' ? this.config.imagesPerScene : 1;
  }

  scenesOf(split: Split): number {
    return Math.ceil(this.config.counts[split] / this.imagesPerScene(split));
  }

  imagesOf(split: Split): number {
    return this.config.counts[split];
  }

  async *images(split: Split, scene: number): AsyncGenerator<GeneratedImage> {
    yield* await this.sceneImages(split, scene);
  }

  /** The images of one scene, in order; the last scene of a split may be cut short by the split's count. */
  async sceneImages(split: Split, scene: number): Promise<GeneratedImage[]> {
    const source = await this.#source(split, scene);
    const perScene = this.imagesPerScene(split);
    const end = Math.min(this.config.counts[split], (scene + 1) * perScene);
    const images: GeneratedImage[] = [];
    for (let index = scene * perScene; index < end; index++)
      images.push(await this.#image(split, index, source));
    return images;
  }

  async #source(split: Split, scene: number): Promise<Source> {
    const rng = this.#root.fork(split, 'scene', scene);
    const size = this.config.size + DISTORTION_MARGIN + SCENE_MARGIN;
    const names = this.#photos?.namesOf(split) ?? [];
    if (this.#photos !== undefined && names.length > 0 && rng.uniform() < this.config.photoShare) {
      const name = rng.pick(names);
      return {
        image: await this.#photos.crop(name, size, rng),
        group: `photograph-${parse(name).base}`,
        source: 'photograph',
        kind: 'photograph',
        elements: [],
        // Of the photograph, not of the crop: every crop shows the same subject.
        liking: likingOf('photograph', this.#root.fork('liking', name)),
      };
    }
    const { image, kind, elements } = renderScene(rng.fork('paint'), size);
    return {
      image,
      group: `${split}-scene-${String(scene).padStart(6, '0')}`,
      source: 'synthetic',
      kind,
      elements,
      liking: likingOf(kind, rng.fork('liking')),
    };
  }

  async #image(split: Split, index: number, source: Source): Promise<GeneratedImage> {
    const rng = this.#root.fork(split, 'image', index);
    const { size, seed, raters } = this.config;
    const wide = size + DISTORTION_MARGIN;
    let image = cropImage(
      source.image,
      rng.integer(SCENE_MARGIN + 1),
      rng.integer(SCENE_MARGIN + 1),
      wide,
      wide,
    );
    // Lettering must not be mirrored; everything else may be.
    if (source.kind !== 'sign' && rng.uniform() < 0.5) image = mirrorImage(image);
    const left = rng.integer(DISTORTION_MARGIN + 1);
    const top = rng.integer(DISTORTION_MARGIN + 1);
    const busyness = busynessOf(cropImage(image, left, top, size, size));

    const distortions = this.#choose(split, index, rng);
    for (const [i, { type, strength }] of distortions.entries()) {
      image = await applyDistortion(image, type, strength, rng.fork('distortion', i));
    }
    const opinion = rate(qualityOf(distortions, busyness, source.liking), rng.fork('raters'), raters);
    const { distortions: known, source: origin, ...named } = statedDistortions(distortions, source.source);
    const id = `${split}-${String(index).padStart(6, '0')}`;
    return {
      image: cropImage(image, left, top, size, size),
      record: {
        id,
        image: `images/${id}.png`,
        dataset: 'synthetic',
        split,
        mos: round(opinion.mos),
        mosStd: round(opinion.std),
        raters: opinion.raters,
        distortions: known,
        content: {
          kind: source.kind,
          busyness: round(busyness),
          detail: detailOf(busyness),
          elements: source.elements,
        },
        group: source.group,
        source: origin,
        generator: { version: GENERATOR_VERSION, seed },
        ...named,
      },
    };
  }

  #choose(split: Split, index: number, rng: Rng): AppliedDistortion[] {
    const cross = split === 'cross';
    const set = DISTORTION_SETS[this.config.distortionSet ?? 'base'];
    const types = cross ? set.unseen : set.seen;
    if (!cross && rng.uniform() < this.config.pristineShare) return [];
    // Every run of types.length images holds each type once: small splits stay balanced.
    const block = Math.floor(index / types.length);
    const first = this.#root.fork(split, 'types', block).shuffle(types)[index % types.length]!;
    const chosen = [
      { type: first, strength: round(rng.uniform(STRENGTH_RANGE.lowest, STRENGTH_RANGE.highest)) },
    ];
    if (rng.uniform() < this.config.doubleDistortionShare) {
      const others = types.filter((type) => DISTORTIONS[type].family !== DISTORTIONS[first].family);
      chosen.push({ type: rng.pick(others), strength: round(rng.uniform(STRENGTH_RANGE.lowest, 4)) });
    }
    return chosen.sort((a, b) => STAGE[DISTORTIONS[a.type].family] - STAGE[DISTORTIONS[b.type].family]);
  }
}

const round = (value: number): number => Math.round(value * 1e4) / 1e4;
