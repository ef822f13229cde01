import type { RgbImage } from '../core/index.ts';

/** Fraction bits of a tap, as in Pillow, whose bicubic Qwen2.5-VL was trained with. */
const TAP_SCALE = 2 ** 22;
const CUBIC_A = -0.5;
const CUBIC_SUPPORT = 2;

/** Keys' cubic convolution kernel with a = -0.5 (Catmull-Rom). */
function cubic(distance: number): number {
  const x = Math.abs(distance);
  if (x < 1) return ((CUBIC_A + 2) * x - (CUBIC_A + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * CUBIC_A;
  return 0;
}

interface Taps {
  first: Int32Array;
  count: Int32Array;
  /** [output, stride] whole-number weights that sum to about TAP_SCALE. */
  weights: Float64Array;
  stride: number;
}

/** Weights of every output sample; when shrinking the kernel widens with the scale, which is the antialiasing. */
function tapsFor(input: number, output: number): Taps {
  const scale = input / output;
  const widening = Math.max(1, scale);
  const support = CUBIC_SUPPORT * widening;
  const stride = Math.ceil(support) * 2 + 1;
  const taps: Taps = {
    first: new Int32Array(output),
    count: new Int32Array(output),
    weights: new Float64Array(output * stride),
    stride,
  };
  for (let o = 0; o < output; o++) {
    const centre = (o + 0.5) * scale;
    const first = Math.max(0, Math.trunc(centre - support + 0.5));
    const last = Math.min(input, Math.trunc(centre + support + 0.5));
    let sum = 0;
    for (let i = first; i < last; i++) {
      const weight = cubic((i - centre + 0.5) / widening);
      taps.weights[o * stride + i - first] = weight;
      sum += weight;
    }
    for (let k = 0; k < last - first; k++) {
      const weight = (taps.weights[o * stride + k]! / sum) * TAP_SCALE;
      taps.weights[o * stride + k] = Math.trunc(weight < 0 ? weight - 0.5 : weight + 0.5);
    }
    taps.first[o] = first;
    taps.count[o] = last - first;
  }
  return taps;
}

/**
 * Antialiased bicubic resize in Pillow's arithmetic: one direction after the other, 8 bits between the passes.
 * Rows come first unless the height shrinks by more than twice what the width does, as in Pillow from 13 on;
 * before, rows always did.
 */
export function resizeBicubic(image: RgbImage, height: number, width: number): RgbImage {
  const less = image.height - height;
  const columnsFirst = less > 0 && less > 2 * (image.width - width);
  return columnsFirst
    ? resizeRows(resizeColumns(image, height), width)
    : resizeColumns(resizeRows(image, width), height);
}

function resizeRows({ data, width: from, height }: RgbImage, width: number): RgbImage {
  if (width === from) return { data, width, height };
  const resized = resample(data, height, tapsFor(from, width), from * 3, 3, width * 3, 3);
  return { data: resized, width, height };
}

function resizeColumns({ data, width, height: from }: RgbImage, height: number): RgbImage {
  if (height === from) return { data, width, height };
  const resized = resample(data, width * 3, tapsFor(from, height), 1, width * 3, 1, width * 3);
  return { data: resized, width, height };
}

/**
 * Resamples `lines` lines. A line starts every lineStep values (inLineStep, outLineStep) and its samples lie
 * sampleStep apart; with a sample step of 3 the three channels of a pixel are handled together.
 */
function resample(
  input: Uint8Array,
  lines: number,
  taps: Taps,
  inLineStep: number,
  inSampleStep: number,
  outLineStep: number,
  outSampleStep: number,
): Uint8Array {
  const channels = inLineStep === 1 ? 1 : 3;
  const outputs = taps.first.length;
  const result = new Uint8Array(lines * outputs * channels);
  for (let line = 0; line < lines; line++) {
    for (let o = 0; o < outputs; o++) {
      const from = line * inLineStep + taps.first[o]! * inSampleStep;
      const at = o * taps.stride;
      const count = taps.count[o]!;
      for (let c = 0; c < channels; c++) {
        let sum = TAP_SCALE / 2;
        for (let k = 0; k < count; k++) sum += input[from + k * inSampleStep + c]! * taps.weights[at + k]!;
        const value = Math.floor(sum / TAP_SCALE);
        result[line * outLineStep + o * outSampleStep + c] = Math.min(255, Math.max(0, value));
      }
    }
  }
  return result;
}
