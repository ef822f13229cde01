import type { VisionConfig } from './config.ts';
import type { Grid, ProcessedImage } from './image-processor.ts';

/** A run of windows of equal size, laid out one after another. */
export interface WindowGroup {
  /** First patch of the group in plan order. */
  start: number;
  windows: number;
  /** Patches per window. */
  length: number;
}

/**
 * Everything about a grid that does not depend on pixels. The tower works in "plan order": window by window,
 * windows of equal size together, the patches of a merge unit always adjacent. Attention does not care about
 * the order, so it is undone once, after the merger.
 */
export interface VisionPlan {
  grid: Grid;
  /** Patches per image. */
  patches: number;
  /** Image tokens per image. */
  tokens: number;
  /** [patches] plan position -> row of the processor's output. */
  order: Int32Array;
  /** [tokens] raster position of an image token -> its plan position. */
  restore: Int32Array;
  groups: WindowGroup[];
  /** Rotary tables [patches, headSize] in plan order, sin signed as `rotate` expects. */
  cos: Float32Array;
  sin: Float32Array;
}

const ROPE_BASE = 10_000;
const cache = new Map<string, VisionPlan>();
/** Photo collections have many sizes; a plan is cheap to make again. */
const CACHE_LIMIT = 64;

/** The plan of a grid, kept for the next image of the same size. */
export function visionPlan(grid: Grid, config: VisionConfig): VisionPlan {
  const { patchSize, spatialMergeSize, windowSize, hiddenSize, heads } = config;
  const key = [grid.h, grid.w, patchSize, spatialMergeSize, windowSize, hiddenSize, heads].join();
  let plan = cache.get(key);
  if (plan === undefined) {
    plan = makePlan(grid, config);
    if (cache.size >= CACHE_LIMIT) cache.delete(cache.keys().next().value as string);
    cache.set(key, plan);
  }
  return plan;
}

function makePlan(grid: Grid, config: VisionConfig): VisionPlan {
  const merge = config.spatialMergeSize;
  const unit = merge * merge;
  const rows = grid.h / merge;
  const columns = grid.w / merge;
  const windowSide = config.windowSize / config.patchSize / merge;
  const windows: number[][] = [];
  for (let top = 0; top < rows; top += windowSide) {
    for (let left = 0; left < columns; left += windowSide) {
      const window: number[] = [];
      for (let y = top; y < Math.min(rows, top + windowSide); y++) {
        for (let x = left; x < Math.min(columns, left + windowSide); x++) window.push(y * columns + x);
      }
      windows.push(window);
    }
  }
  windows.sort((a, b) => b.length - a.length); // stable: raster order within a size
  const groups: WindowGroup[] = [];
  let start = 0;
  for (const window of windows) {
    const length = window.length * unit;
    const group = groups.at(-1);
    if (group?.length === length) group.windows++;
    else groups.push({ start, windows: 1, length });
    start += length;
  }
  const tokenOrder = windows.flat();
  const restore = new Int32Array(tokenOrder.length);
  tokenOrder.forEach((raster, position) => {
    restore[raster] = position;
  });
  const order = Int32Array.from(
    { length: start },
    (_, i) => tokenOrder[Math.floor(i / unit)]! * unit + (i % unit),
  );
  const { cos, sin } = rotaryOfPatches(tokenOrder, columns, config);
  return { grid, patches: start, tokens: tokenOrder.length, order, restore, groups, cos, sin };
}

/** 2D rotary angles: the first half of the frequencies turns with the row, the second with the column. */
function rotaryOfPatches(tokenOrder: number[], columns: number, config: VisionConfig) {
  const merge = config.spatialMergeSize;
  const size = config.hiddenSize / config.heads;
  const quarter = size / 4;
  const cos = new Float32Array(tokenOrder.length * merge * merge * size);
  const sin = new Float32Array(cos.length);
  let at = 0;
  for (const token of tokenOrder) {
    for (let patch = 0; patch < merge * merge; patch++, at += size) {
      const y = Math.floor(token / columns) * merge + Math.floor(patch / merge);
      const x = (token % columns) * merge + (patch % merge);
      for (let i = 0; i < size / 2; i++) {
        const angle = (i < quarter ? y : x) * ROPE_BASE ** (-(i % quarter) / quarter);
        cos[at + i] = cos[at + i + size / 2] = Math.cos(angle);
        sin[at + i] = -Math.sin(angle);
        sin[at + i + size / 2] = Math.sin(angle);
      }
    }
  }
  return { cos, sin };
}

/** The patches of several images of one grid as one array [images * patches, rowLength] in plan order. */
export function stackPatches(images: readonly ProcessedImage[], plan: VisionPlan): Float32Array {
  const rowLength = images[0]!.patches.length / plan.patches;
  const result = new Float32Array(images.length * plan.patches * rowLength);
  let at = 0;
  for (const { patches } of images) {
    for (const row of plan.order) {
      result.set(patches.subarray(row * rowLength, (row + 1) * rowLength), at);
      at += rowLength;
    }
  }
  return result;
}
