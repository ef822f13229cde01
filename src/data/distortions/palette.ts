import type { Raster } from '../raster.ts';
import { atStrength, type StrengthCurve } from '../strength.ts';

/** Colors of the palette. */
export const PALETTE_COLORS: StrengthCurve = [96, 48, 28, 16, 9, 5];

interface Box {
  /** Pixels of the box, as positions of their first value. */
  pixels: Uint32Array;
  channel: number;
  range: number;
}

/** The channel in which the pixels spread most. */
function boxOf(data: Float32Array, pixels: Uint32Array): Box {
  let widest: Box = { pixels, channel: 0, range: -1 };
  for (let channel = 0; channel < 3; channel++) {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (const at of pixels) {
      const value = data[at + channel]!;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    if (high - low > widest.range) widest = { pixels, channel, range: high - low };
  }
  return widest;
}

/** A palette fitted to the picture by median cut (Heckbert 1982), without dithering. */
export function colorQuantization(image: Raster, strength: number): Raster {
  const colors = Math.max(2, Math.round(atStrength(PALETTE_COLORS, strength)));
  const { data } = image;
  const boxes = [
    boxOf(
      data,
      Uint32Array.from({ length: data.length / 3 }, (_, i) => 3 * i),
    ),
  ];
  while (boxes.length < colors) {
    // The box whose widest channel, weighed by its pixels, spreads most.
    const worst = boxes.reduce((a, b) => (weight(b) > weight(a) ? b : a));
    if (worst.range <= 0) break;
    const sorted = worst.pixels.toSorted(
      (a, b) => data[a + worst.channel]! - data[b + worst.channel]! || a - b,
    );
    const middle = sorted.length >> 1;
    boxes.splice(
      boxes.indexOf(worst),
      1,
      boxOf(data, sorted.subarray(0, middle)),
      boxOf(data, sorted.subarray(middle)),
    );
  }
  const out = new Float32Array(data.length);
  for (const { pixels } of boxes) {
    const sums = [0, 0, 0];
    for (const at of pixels) for (let c = 0; c < 3; c++) sums[c] = sums[c]! + data[at + c]!;
    const color = sums.map((sum) => Math.round(sum / pixels.length));
    for (const at of pixels) out.set(color, at);
  }
  return { ...image, data: out };
}

const weight = ({ range, pixels }: Box): number => range * Math.sqrt(pixels.length);
