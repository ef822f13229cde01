import { z } from 'zod';
import { CheckpointError, InputError, type RgbImage } from '../core/index.ts';
import { resizeBicubic } from './bicubic.ts';
import { readJsonFile } from './config.ts';
import { smartResize } from './smart-resize.ts';

/** What preprocessor_config.json says about images; it belongs to the weights and is saved with them. */
export interface ImageProcessorConfig {
  patchSize: number;
  temporalPatchSize: number;
  mergeSize: number;
  minPixels: number;
  maxPixels: number;
  imageMean: [number, number, number];
  imageStd: [number, number, number];
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

const triple = z.tuple([z.number(), z.number(), z.number()]);
const pixels = z.int().min(1);
const schema = z.object({
  patch_size: z.int().min(1).default(14),
  temporal_patch_size: z.int().min(1).default(2),
  merge_size: z.int().min(1).default(2),
  min_pixels: pixels.nullish(),
  max_pixels: pixels.nullish(),
  size: z.object({ shortest_edge: pixels.optional(), longest_edge: pixels.optional() }).nullish(),
  image_mean: triple.default([0.48145466, 0.4578275, 0.40821073]),
  image_std: triple
    .refine((std) => std.every((s) => s > 0), 'must be positive')
    .default([0.26862954, 0.26130258, 0.27577711]),
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
  return {
    patchSize: p.patch_size,
    temporalPatchSize: p.temporal_patch_size,
    mergeSize: p.merge_size,
    minPixels: p.min_pixels ?? p.size?.shortest_edge ?? 56 * 56,
    maxPixels: p.max_pixels ?? p.size?.longest_edge ?? 28 * 28 * 1280,
    imageMean: p.image_mean,
    imageStd: p.image_std,
    source: json as Record<string, unknown>,
  };
}

export async function readProcessorConfig(path: string): Promise<ImageProcessorConfig> {
  return parseProcessorConfig(await readJsonFile(path), path);
}

/** Scales an image to the size the model wants (bicubic, only when it differs) and cuts it into patches. */
export function preprocess(image: RgbImage, config: ImageProcessorConfig): ProcessedImage {
  const target = smartResize(image.height, image.width, {
    factor: config.patchSize * config.mergeSize,
    minPixels: config.minPixels,
    maxPixels: config.maxPixels,
  });
  const same = target.height === image.height && target.width === image.width;
  return pixelsToPatches(same ? image : resizeBicubic(image, target.height, target.width), config);
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
  const { data, width, height } = image;
  const unit = side * merge;
  if (width % unit !== 0 || height % unit !== 0 || width === 0 || height === 0) {
    throw new InputError(`the image is ${width}x${height}, its sides must be multiples of ${unit}`, {
      hint: 'use preprocess(), which resizes',
    });
  }
  if (data.length !== width * height * 3) {
    throw new InputError(
      `the image has ${data.length} bytes, ${width}x${height} RGB needs ${width * height * 3}`,
    );
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
