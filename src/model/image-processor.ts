import { z } from 'zod';
import { CheckpointError, InputError, type RgbImage } from '../core/index.ts';
import { resizeBicubic } from './bicubic.ts';
import { readJsonFile } from './config.ts';
import { smartResize } from './smart-resize.ts';
import { VIEW_COUNTS, type ViewSettings } from './views.ts';

/** What preprocessor_config.json says about images; it belongs to the weights and is saved with them. */
export interface ImageProcessorConfig {
  patchSize: number;
  temporalPatchSize: number;
  mergeSize: number;
  minPixels: number;
  maxPixels: number;
  imageMean: [number, number, number];
  imageStd: [number, number, number];
  /** How pictures are cut before they are shown, null for whole pictures. Trained with, so saved with the weights. */
  views: ViewSettings | null;
  source: Readonly<Record<string, unknown>>;
}

/** Size of an image in patches; both are multiples of the merge size. */
export interface Grid {
  h: number;
  w: number;
}

export interface ProcessedImage {
  /** [h * w, 3 * temporalPatchSize * patchSize^2], rows in 2x2-block order, values ordered (c, t, y, x). */
  patches: Float32Array;
  grid: Grid;
}

const VIEWS_KEY = 'q_ponder_views';

const mean = z.number().min(-100).max(100);
const std = z.number().min(1e-3, 'must be positive, from 0.001').max(100);
/** Far above any released processor; a picture of a size beyond it would take the machine's memory. */
const LARGEST_AREA = 2 ** 26;
const pixels = z.int().min(1).max(LARGEST_AREA);
const schema = z.object({
  patch_size: z.int().min(1).max(256).default(14),
  temporal_patch_size: z.int().min(1).max(16).default(2),
  merge_size: z.int().min(1).max(16).default(2),
  min_pixels: pixels.nullish(),
  max_pixels: pixels.nullish(),
  size: z.object({ shortest_edge: pixels.optional(), longest_edge: pixels.optional() }).nullish(),
  image_mean: z.tuple([mean, mean, mean]).default([0.48145466, 0.4578275, 0.40821073]),
  image_std: z.tuple([std, std, std]).default([0.26862954, 0.26130258, 0.27577711]),
  // A key of our own, which other readers of the file pass over.
  [VIEWS_KEY]: z
    .strictObject({
      short_side: z.int().min(1).max(4096),
      crop: z.int().min(1).max(4096),
      count: z.union(VIEW_COUNTS.map((count) => z.literal(count))),
    })
    .nullish(),
});

export function parseProcessorConfig(
  json: unknown,
  origin = 'preprocessor_config.json',
): ImageProcessorConfig {
  const parsed = schema.safeParse(json);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
    throw new CheckpointError(`${origin} is not a usable image processor:\n${problems.join('\n')}`);
  }
  const p = parsed.data;
  const minPixels = p.min_pixels ?? p.size?.shortest_edge ?? 56 * 56;
  const maxPixels = p.max_pixels ?? p.size?.longest_edge ?? 28 * 28 * 1280;
  if (minPixels > maxPixels) {
    throw new CheckpointError(
      `${origin} is not a usable image processor: min_pixels ${minPixels} is above max_pixels ${maxPixels}`,
    );
  }
  const views = p[VIEWS_KEY] ?? null;
  const config = {
    patchSize: p.patch_size,
    temporalPatchSize: p.temporal_patch_size,
    mergeSize: p.merge_size,
    minPixels,
    maxPixels,
    imageMean: p.image_mean,
    imageStd: p.image_std,
    views: null,
    source: json as Record<string, unknown>,
  };
  if (views === null) return config;
  return withViews(config, { shortSide: views.short_side, crop: views.crop, count: views.count }, origin);
}

/**
 * The same processor with another way to look at pictures. CheckpointError where a view does not fit the picture
 * or is not what the processor would leave as it is.
 */
export function withViews(
  config: ImageProcessorConfig,
  views: ViewSettings,
  origin = 'the views',
): ImageProcessorConfig {
  const { shortSide, crop, count } = views;
  const unit = config.patchSize * config.mergeSize;
  const problem =
    crop > shortSide
      ? `the crop ${crop} is larger than the short side ${shortSide}`
      : crop % unit !== 0
        ? `the crop ${crop} is no multiple of ${unit}, the merged patch`
        : crop * crop > config.maxPixels || crop * crop < config.minPixels
          ? `the crop ${crop} has ${crop * crop} pixels, the processor takes ${config.minPixels} to ${config.maxPixels}`
          : null;
  if (problem !== null) {
    throw new CheckpointError(`${origin}: ${problem}`, {
      hint: `choose a multiple of ${unit} up to ${Math.floor(Math.sqrt(config.maxPixels) / unit) * unit} as crop`,
    });
  }
  const written = { short_side: shortSide, crop, count };
  return { ...config, views, source: { ...config.source, [VIEWS_KEY]: written } };
}

export async function readProcessorConfig(path: string): Promise<ImageProcessorConfig> {
  return parseProcessorConfig(await readJsonFile(path), path);
}

/**
 * InputError unless the value is an 8-bit RGB image whose bytes match its size. Callers from plain JavaScript
 * give RGBA, too few bytes or fractional sides; resizing would fill up what is not there.
 */
export function requireRgbImage(value: unknown): asserts value is RgbImage {
  const hint = 'give {data: Uint8Array of width x height x 3 bytes, width, height}; alpha must be removed';
  if (typeof value !== 'object' || value === null) {
    throw new InputError(`an RGB image was expected, got ${value === null ? 'null' : typeof value}`, {
      hint,
    });
  }
  const { data, width, height } = value as Partial<RgbImage>;
  if (!isSide(width) || !isSide(height)) {
    throw new InputError(`the image is ${width}x${height}, its sides must be whole numbers from 1`, { hint });
  }
  if (!(data instanceof Uint8Array)) {
    throw new InputError('the data of the image must be a Uint8Array', { hint });
  }
  if (data.length !== width * height * 3) {
    throw new InputError(
      `the image has ${data.length} bytes, ${width}x${height} RGB needs ${width * height * 3}`,
      { hint },
    );
  }
}

const isSide = (side: unknown): side is number => Number.isInteger(side) && (side as number) >= 1;

/** An image at the size the model wants: bicubic where it differs, the very same image where it does not. */
export function resizeForModel(image: RgbImage, config: ImageProcessorConfig): RgbImage {
  requireRgbImage(image);
  const { height, width } = smartResize(image.height, image.width, {
    factor: config.patchSize * config.mergeSize,
    minPixels: config.minPixels,
    maxPixels: config.maxPixels,
  });
  return height === image.height && width === image.width ? image : resizeBicubic(image, height, width);
}

/** Scales an image to the size the model wants (bicubic, only when it differs) and cuts it into patches. */
export function preprocess(image: RgbImage, config: ImageProcessorConfig): ProcessedImage {
  return pixelsToPatches(resizeForModel(image, config), config);
}

/** Tokens an image of this grid takes in the text: one per merged block of patches. */
export const imageTokenCount = (grid: Grid, mergeSize: number): number =>
  (grid.h * grid.w) / (mergeSize * mergeSize);

/**
 * Cuts an image whose sides are multiples of patchSize * mergeSize into normalised patches. Never resizes,
 * so crops used in training keep their pixels.
 */
export function pixelsToPatches(image: RgbImage, config: ImageProcessorConfig): ProcessedImage {
  const { patchSize: side, mergeSize: merge, temporalPatchSize: frames } = config;
  requireRgbImage(image);
  const { data, width, height } = image;
  const unit = side * merge;
  if (width % unit !== 0 || height % unit !== 0) {
    throw new InputError(`the image is ${width}x${height}, its sides must be multiples of ${unit}`, {
      hint: 'use preprocess(), which resizes',
    });
  }
  const grid = { h: height / side, w: width / side };
  const area = side * side;
  const patches = new Float32Array(grid.h * grid.w * 3 * frames * area);
  const tables = normalisationTables(config);
  const stride = width * 3;
  let at = 0;
  for (let blockY = 0; blockY < height; blockY += unit) {
    for (let blockX = 0; blockX < width; blockX += unit) {
      for (let y = blockY; y < blockY + unit; y += side) {
        for (let x = blockX; x < blockX + unit; x += side) {
          for (let c = 0; c < 3; c++) {
            const table = tables[c]!;
            const frame = at;
            for (let row = y; row < y + side; row++) {
              const end = row * stride + (x + side) * 3 + c;
              for (let p = row * stride + x * 3 + c; p < end; p += 3) patches[at++] = table[data[p]!]!;
            }
            for (let t = 1; t < frames; t++, at += area) patches.copyWithin(at, frame, frame + area);
          }
        }
      }
    }
  }
  return { patches, grid };
}

const tableCache = new WeakMap<ImageProcessorConfig, Float32Array[]>();

/** (value / 255 - mean) / std for all 256 values of each channel. */
function normalisationTables(config: ImageProcessorConfig): Float32Array[] {
  let tables = tableCache.get(config);
  if (tables === undefined) {
    tables = config.imageMean.map((mean, c) =>
      Float32Array.from({ length: 256 }, (_, value) => (value / 255 - mean) / config.imageStd[c]!),
    );
    tableCache.set(config, tables);
  }
  return tables;
}
