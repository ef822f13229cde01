import { InputError, type Rng } from '../core/index.ts';
import type { TensorData } from '../formats/index.ts';
import type { VisionConfig } from './config.ts';

/** Added to the covariance: directions of less variance than this count as noise and are not blown up. */
const WHITENING_EPSILON = 1e-3;
/** Spread of the constant that stands in for a patch bias, in units of the whitened features' own std. */
const OFFSET_STD = 0.5;

/**
 * Whitening initialisation of the patch embedding: features of training patches start uncorrelated and with
 * unit variance, which lets a small vision tower learn from scratch where random weights stay blind.
 *
 * PCA whitening is W = R diag(1/sqrt(lambda + e)) U^T with a random rotation R. With C + e I = L L^T, the
 * matrix L^-1 differs from it only by a rotation (polar decomposition), which R absorbs, so W = R L^-1 is
 * the same initialisation without an eigen-solver. R has orthonormal rows, so Cov(W x) is the identity.
 * A still picture fills all frames of a patch alike, so the weight is divided evenly over the frames.
 *
 * @param patches training patches [n, 3 * frames * side * side] in the processor's order (c, t, y, x)
 * @returns weight [hidden, 3, frames, side, side] and mean [hidden], the embedding of the average patch.
 * Qwen2.5-VL has no patch bias: `whitenPatchEmbedding` centres through a bias that it does have.
 */
export function whitenedPatchEmbedding(
  patches: Float32Array,
  config: VisionConfig,
  rng: Rng,
): { weight: TensorData; mean: Float32Array } {
  const { hiddenSize, temporalPatchSize: frames, patchSize: side } = config;
  const pixels = side * side;
  const width = 3 * pixels;
  const rowLength = width * frames;
  const n = patches.length / rowLength;
  if (!Number.isInteger(n) || n < 2) {
    throw new InputError(`whitening got ${patches.length} values, needs at least 2 rows of ${rowLength}`);
  }
  const still = firstFrames(patches, n, frames, pixels);
  const { mean, covariance } = meanAndCovariance(still, n, width);
  for (let i = 0; i < width; i++) covariance[i * width + i]! += WHITENING_EPSILON;
  const lower = cholesky(covariance, width);
  const weight = new Float32Array(hiddenSize * rowLength);
  const embeddedMean = new Float32Array(hiddenSize);
  const rows = randomRows(hiddenSize, width, rng);
  for (let o = 0; o < hiddenSize; o++) {
    const row = solveTransposed(lower, rows.subarray(o * width, (o + 1) * width), width); // L^-T r
    let sum = 0;
    for (let c = 0; c < 3; c++) {
      for (let i = 0; i < pixels; i++) {
        const value = row[c * pixels + i]!;
        sum += value * mean[c * pixels + i]!;
        for (let t = 0; t < frames; t++) {
          weight[o * rowLength + (c * frames + t) * pixels + i] = value / frames;
        }
      }
    }
    embeddedMean[o] = sum;
  }
  return { weight: { shape: [hiddenSize, 3, frames, side, side], data: weight }, mean: embeddedMean };
}

/**
 * Puts a whitened patch embedding into initial values. The residual stream gets its constant from the output
 * bias of the first block's attention, the first bias on its way: minus the embedded mean (so that features
 * are centred) plus a random offset, against which RMS norm leaves a patch's contrast visible.
 */
export function whitenPatchEmbedding(
  values: Map<string, TensorData>,
  patches: Float32Array,
  config: VisionConfig,
  rng: Rng,
): void {
  const { weight, mean } = whitenedPatchEmbedding(patches, config, rng.fork('rotation'));
  const offsets = rng.fork('offset');
  const bias = Float32Array.from(mean, (m) => -m + offsets.normal(0, OFFSET_STD));
  values.set('visual.patch_embed.proj.weight', weight);
  values.set('visual.blocks.0.attn.proj.bias', { shape: [config.hiddenSize], data: bias });
}

function firstFrames(patches: Float32Array, n: number, frames: number, pixels: number): Float32Array {
  const width = 3 * pixels;
  const result = new Float32Array(n * width);
  for (let r = 0; r < n; r++) {
    for (let c = 0; c < 3; c++) {
      const from = r * width * frames + c * frames * pixels;
      result.set(patches.subarray(from, from + pixels), r * width + c * pixels);
    }
  }
  return result;
}

function meanAndCovariance(rows: Float32Array, n: number, width: number) {
  const mean = new Float64Array(width);
  for (let r = 0; r < n; r++) for (let i = 0; i < width; i++) mean[i]! += rows[r * width + i]!;
  for (let i = 0; i < width; i++) mean[i]! /= n;
  const covariance = new Float64Array(width * width);
  // Four rows at a time: one pass over the (large) covariance serves four updates.
  const centred = new Float64Array(4 * width);
  for (let r = 0; r < n; r += 4) {
    for (let k = 0; k < 4; k++) {
      for (let i = 0; i < width; i++) {
        centred[k * width + i] = r + k < n ? rows[(r + k) * width + i]! - mean[i]! : 0;
      }
    }
    const a = centred.subarray(0, width);
    const b = centred.subarray(width, 2 * width);
    const c = centred.subarray(2 * width, 3 * width);
    const d = centred.subarray(3 * width);
    for (let i = 0; i < width; i++) {
      const ai = a[i]!;
      const bi = b[i]!;
      const ci = c[i]!;
      const di = d[i]!;
      const at = i * width;
      for (let j = 0; j <= i; j++) {
        covariance[at + j]! += ai * a[j]! + bi * b[j]! + ci * c[j]! + di * d[j]!;
      }
    }
  }
  for (let i = 0; i < width; i++) {
    for (let j = 0; j <= i; j++) {
      const value = covariance[i * width + j]! / n;
      covariance[i * width + j] = value;
      covariance[j * width + i] = value;
    }
  }
  return { mean, covariance };
}

/** Lower-triangular L with L L^T = matrix (symmetric, positive definite). */
function cholesky(matrix: Float64Array, width: number): Float64Array {
  const lower = new Float64Array(width * width);
  for (let i = 0; i < width; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i * width + j]!;
      for (let k = 0; k < j; k++) sum -= lower[i * width + k]! * lower[j * width + k]!;
      if (i !== j) lower[i * width + j] = sum / lower[j * width + j]!;
      else if (sum > 0) lower[i * width + i] = Math.sqrt(sum);
      else throw new InputError('whitening met patches that are not finite numbers');
    }
  }
  return lower;
}

/** Solves L^T x = b by back substitution. */
function solveTransposed(lower: Float64Array, b: Float64Array, width: number): Float64Array {
  const x = Float64Array.from(b);
  for (let i = width - 1; i >= 0; i--) {
    const value = x[i]! / lower[i * width + i]!;
    x[i] = value;
    for (let k = 0; k < i; k++) x[k]! -= lower[i * width + k]! * value;
  }
  return x;
}

/** Random rows [count, width]: orthonormal while count <= width, else normal with unit expected length. */
function randomRows(count: number, width: number, rng: Rng): Float64Array {
  const rows = Float64Array.from({ length: count * width }, () => rng.normal(0, 1 / Math.sqrt(width)));
  if (count > width) return rows;
  for (let i = 0; i < count; i++) {
    const row = rows.subarray(i * width, (i + 1) * width);
    // Twice is enough: the second pass removes the rounding of the first (Kahan).
    for (let pass = 0; pass < 2; pass++) {
      for (let j = 0; j < i; j++) {
        const other = rows.subarray(j * width, (j + 1) * width);
        let dot = 0;
        for (let k = 0; k < width; k++) dot += row[k]! * other[k]!;
        for (let k = 0; k < width; k++) row[k]! -= dot * other[k]!;
      }
    }
    const norm = Math.hypot(...row);
    for (let k = 0; k < width; k++) row[k]! /= norm;
  }
  return rows;
}
