import type { RgbImage, Rng } from '../core/index.ts';
import { createRaster, toImage } from './raster.ts';
import { paintBuildings } from './scenes/buildings.ts';
import { busynessOf, develop, halve } from './scenes/develop.ts';
import { paintFoliage } from './scenes/foliage.ts';
import { paintLandscape } from './scenes/landscape.ts';
import { paintObjects } from './scenes/objects.ts';
import type { Painter } from './scenes/painter.ts';
import { paintPebbles } from './scenes/pebbles.ts';
import { paintSign } from './scenes/sign.ts';
import { spectralFields } from './scenes/spectral-noise.ts';

export { busynessOf };

/** What a generated scene shows. Crops of users' own photographs have the kind `photograph`. */
export const SCENE_KINDS = ['landscape', 'foliage', 'pebbles', 'objects', 'buildings', 'sign'] as const;
export type SceneKind = (typeof SCENE_KINDS)[number];

const PAINTERS: Record<SceneKind, Painter> = {
  landscape: paintLandscape,
  foliage: paintFoliage,
  pebbles: paintPebbles,
  objects: paintObjects,
  buildings: paintBuildings,
  sign: paintSign,
};

/** A noun phrase for each kind of content, ready for captions. */
export const CONTENT_PHRASES: Record<SceneKind | 'photograph', string> = {
  landscape: 'a landscape with hills and sky',
  foliage: 'dense foliage',
  pebbles: 'a bed of pebbles',
  objects: 'a still life on a table',
  buildings: 'a row of buildings',
  sign: 'a sign with lettering',
  photograph: 'a photograph',
};

export const DETAIL_LEVELS = ['smooth', 'moderate', 'busy'] as const;
export type DetailLevel = (typeof DETAIL_LEVELS)[number];

/** The word for a busyness in 0..1; the bounds split generated crops into roughly equal thirds. */
export const detailOf = (busyness: number): DetailLevel =>
  busyness < 0.42 ? 'smooth' : busyness < 0.62 ? 'moderate' : 'busy';

export interface SceneDescription {
  kind: SceneKind | 'photograph';
  /** 0 (flat) to 1 (dense detail everywhere), see busynessOf; measured on the undistorted crop. */
  busyness: number;
  detail: DetailLevel;
  /** Things in the scene, singular nouns; of the whole scene, so a crop may miss some. */
  elements: string[];
}

export interface Scene {
  image: RgbImage;
  kind: SceneKind;
  elements: string[];
}

/**
 * Renders a scene of `size` x `size` pixels: painted at twice the size with antialiased edges and 1/f textures,
 * halved, and developed to natural tone and color statistics. Same rng seed, same bytes.
 */
export function renderScene(rng: Rng, size: number, kind: SceneKind = rng.pick(SCENE_KINDS)): Scene {
  const canvas = createRaster(2 * size, 2 * size);
  const fieldSize = Math.min(512, 2 ** Math.ceil(Math.log2(1.5 * size)));
  const slopes = [rng.uniform(0.9, 1.2), rng.uniform(1.7, 2.1)] as const;
  const [fine, coarse] = spectralFields(rng.fork('texture'), fieldSize, slopes);
  const elements = PAINTERS[kind]({ canvas, rng, fine, coarse, unit: (2 * size) / 320 });
  const raster = halve(canvas);
  develop(raster, rng);
  return { image: toImage(raster), kind, elements };
}
