import type { Rng } from '../../core/index.ts';
import { BulkRandom } from '../bulk-random.ts';
import type { Raster } from '../raster.ts';
import { atStrength, type StrengthCurve } from '../strength.ts';
import { warp } from './sampling.ts';

/** Standard deviation in pixels of every pixel's displacement along each axis. */
export const JITTER: StrengthCurve = [0.25, 0.55, 0.95, 1.5, 2.3, 3.4];
/** Share of the area covered by patches taken from beside them. */
export const PATCH_SHARE: StrengthCurve = [0.01, 0.03, 0.06, 0.1, 0.15, 0.21];
/** Share of the area covered by blocks of one color. */
export const BLOCK_SHARE: StrengthCurve = [0.005, 0.015, 0.03, 0.05, 0.075, 0.11];

/** Every pixel fetched from a random place close by. */
export function jitter(image: Raster, strength: number, rng: Rng): Raster {
  const std = atStrength(JITTER, strength);
  const random = new BulkRandom(rng);
  return warp(image, (at) => {
    at[0] += std * random.normal();
    at[1] += std * random.normal();
  });
}

/** Number of squares of this edge that cover about the share of the area, at least one. */
const squares = ({ width, height }: Raster, edge: number, share: number): number =>
  Math.max(1, Math.round((share * width * height) / edge ** 2));

const edgeOf = ({ width, height }: Raster, part: number): number =>
  Math.max(1, Math.min(width, height, Math.max(4, Math.round(Math.min(width, height) / part))));

/** Small squares replaced by the squares beside them: what a lost block is concealed with. */
export function patchDisplacement(image: Raster, strength: number, rng: Rng): Raster {
  const edge = edgeOf(image, 24);
  const { width, height } = image;
  const data = image.data.slice();
  const inside = (value: number, size: number) => Math.max(0, Math.min(size - edge, Math.round(value)));
  for (let n = squares(image, edge, atStrength(PATCH_SHARE, strength)); n > 0; n--) {
    const left = rng.integer(width - edge + 1);
    const top = rng.integer(height - edge + 1);
    const angle = rng.uniform(0, 2 * Math.PI);
    const fromLeft = inside(left + edge * Math.cos(angle), width);
    const fromTop = inside(top + edge * Math.sin(angle), height);
    for (let y = 0; y < edge; y++) {
      const from = ((fromTop + y) * width + fromLeft) * 3;
      data.set(image.data.subarray(from, from + edge * 3), ((top + y) * width + left) * 3);
    }
  }
  return { ...image, data };
}

/** Squares of random color. */
export function colorBlocks(image: Raster, strength: number, rng: Rng): Raster {
  const edge = edgeOf(image, 12);
  const { width, height } = image;
  const data = image.data.slice();
  for (let n = squares(image, edge, atStrength(BLOCK_SHARE, strength)); n > 0; n--) {
    const left = rng.integer(width - edge + 1);
    const top = rng.integer(height - edge + 1);
    const row = new Float32Array(edge * 3);
    const color = [rng.integer(256), rng.integer(256), rng.integer(256)];
    for (let i = 0; i < row.length; i++) row[i] = color[i % 3]!;
    for (let y = 0; y < edge; y++) data.set(row, ((top + y) * width + left) * 3);
  }
  return { ...image, data };
}
