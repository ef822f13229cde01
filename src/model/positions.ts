import { InputError } from '../core/index.ts';
import type { AnyModelConfig, TextConfig } from './config.ts';
import type { Grid } from './image-processor.ts';
import type { Rotary } from './layers.ts';
import { requireNoPictures } from './text-only.ts';

export interface SequencePositions {
  /** [3, length]: time, height and width position of each token. */
  positions: Int32Array;
  /** Position of the next token minus the length: decoding step at cache length n has position n + delta. */
  ropeDelta: number;
}

/**
 * Multimodal rotary positions (Qwen2-VL, section 2.1): text advances all three axes together; an image
 * that starts at p has time p, height p + row and width p + column over its merged grid, and the text after it
 * continues one past the largest position used.
 *
 * In a language model without a vision tower every token is text: the axes agree, and InputError for a grid.
 * InputError unless the image-pad tokens form exactly one run per image, of the length its grid asks for.
 */
export function multimodalPositions(
  tokenIds: readonly number[],
  grids: readonly Grid[],
  config: AnyModelConfig,
): SequencePositions {
  const length = tokenIds.length;
  if (config.vision === null) {
    requireNoPictures(grids.length);
    return { positions: Int32Array.from({ length: 3 * length }, (_, i) => i % length), ropeDelta: 0 };
  }
  const merge = config.vision.spatialMergeSize;
  const positions = new Int32Array(3 * length);
  let next = 0;
  let image = 0;
  for (let i = 0; i < length; ) {
    if (tokenIds[i] !== config.tokens.imagePad) {
      positions[i] = positions[length + i] = positions[2 * length + i] = next++;
      i++;
      continue;
    }
    const grid = grids[image++];
    let run = i;
    while (run < length && tokenIds[run] === config.tokens.imagePad) run++;
    const rows = grid === undefined ? 0 : grid.h / merge;
    const columns = grid === undefined ? 0 : grid.w / merge;
    if (run - i !== rows * columns) {
      throw new InputError(
        `the text has ${run - i} image tokens in a row for image ${image}, which needs ${rows * columns}`,
        { hint: 'use one <|image_pad|> run per image, and no image token in plain text' },
      );
    }
    for (let k = 0; i < run; i++, k++) {
      positions[i] = next;
      positions[length + i] = next + Math.floor(k / columns);
      positions[2 * length + i] = next + (k % columns);
    }
    next += Math.max(rows, columns);
  }
  if (image < grids.length) {
    throw new InputError(`the text refers to ${image} image(s), ${grids.length} were given`, {
      hint: 'put one image entry into the message for each image',
    });
  }
  return { positions, ropeDelta: next - length };
}

/**
 * Rotary tables [n, headSize] for n tokens with positions [3, n]. Frequency i turns with the axis that
 * mrope_section assigns to it; theta_i = ropeTheta^(-2i / headSize). The first half of sin is negated, as
 * `rotate` expects.
 */
export function rotaryTables(positions: Int32Array, config: TextConfig): Rotary<Float32Array> {
  const n = positions.length / 3;
  const size = config.headSize;
  const half = size / 2;
  const axes = config.mropeSection.flatMap((count, axis) => new Array<number>(count).fill(axis));
  const highest = positions.reduce((max, p) => Math.max(max, p), 0);
  const known = anglesUpTo(highest, half, config.ropeTheta);
  const cos = new Float32Array(n * size);
  const sin = new Float32Array(n * size);
  for (let i = 0; i < half; i++) {
    const axis = axes[i]! * n;
    for (let t = 0; t < n; t++) {
      const angle = positions[axis + t]! * half + i;
      const at = t * size + i;
      cos[at] = cos[at + half] = known.cos[angle]!;
      sin[at] = -known.sin[angle]!;
      sin[at + half] = known.sin[angle]!;
    }
  }
  return { cos, sin };
}

let angleCache: { key: string; rows: number; cos: Float32Array; sin: Float32Array } | undefined;

/** cos and sin of position x frequency for positions 0..highest, grown and kept between batches. */
function anglesUpTo(highest: number, half: number, theta: number): Rotary<Float32Array> {
  const key = `${half},${theta}`;
  if (angleCache?.key === key && angleCache.rows > highest) return angleCache;
  const rows = 2 ** Math.ceil(Math.log2(highest + 2));
  const cos = new Float32Array(rows * half);
  const sin = new Float32Array(rows * half);
  for (let p = 0; p < rows; p++) {
    for (let i = 0; i < half; i++) {
      const angle = p * theta ** (-i / half);
      cos[p * half + i] = Math.cos(angle);
      sin[p * half + i] = Math.sin(angle);
    }
  }
  angleCache = { key, rows, cos, sin };
  return angleCache;
}
