import { describe, expect, test } from 'vitest';
import { CheckpointError, InputError, type RgbImage } from '../../src/core/index.ts';
import {
  parseProcessorConfig,
  pixelsToPatches,
  preprocess,
  resizeBicubic,
  resizeForModel,
} from '../../src/model/index.ts';
import { randomImage } from './tiny.ts';

const RELEASED = parseProcessorConfig({
  min_pixels: 3136,
  max_pixels: 12845056,
  patch_size: 14,
  temporal_patch_size: 2,
  merge_size: 2,
});

/** The definition: reshape [2, c, gh/2, 2, 14, gw/2, 2, 14], permute to (gh/2, gw/2, 2, 2, c, t, 14, 14). */
function slowPatches(image: RgbImage, side: number, merge: number, frames: number): number[] {
  const result: number[] = [];
  const mean = [0.48145466, 0.4578275, 0.40821073];
  const std = [0.26862954, 0.26130258, 0.27577711];
  for (let by = 0; by < image.height / side / merge; by++)
    for (let bx = 0; bx < image.width / side / merge; bx++)
      for (let my = 0; my < merge; my++)
        for (let mx = 0; mx < merge; mx++)
          for (let c = 0; c < 3; c++)
            for (let t = 0; t < frames; t++)
              for (let y = 0; y < side; y++)
                for (let x = 0; x < side; x++) {
                  const row = (by * merge + my) * side + y;
                  const column = (bx * merge + mx) * side + x;
                  const value = image.data[(row * image.width + column) * 3 + c]!;
                  result.push(Math.fround((value / 255 - mean[c]!) / std[c]!));
                }
  return result;
}

describe('pixelsToPatches', () => {
  test('order and values of a non-square image', () => {
    const image = randomImage(84, 56, 1);
    const { patches, grid } = pixelsToPatches(image, RELEASED);
    expect(grid).toEqual({ h: 4, w: 6 });
    expect([...patches]).toEqual(slowPatches(image, 14, 2, 2));
  });

  test('other patch, merge and frame sizes', () => {
    const config = parseProcessorConfig({ patch_size: 3, temporal_patch_size: 1, merge_size: 3 });
    const image = randomImage(18, 9, 2);
    expect([...pixelsToPatches(image, config).patches]).toEqual(slowPatches(image, 3, 3, 1));
  });

  test('sides that are no multiple of 28 are refused, not cut', () => {
    expect(() => pixelsToPatches(randomImage(84, 57, 1), RELEASED)).toThrow(InputError);
  });

  test('too few bytes are refused', () => {
    const short = { width: 28, height: 28, data: new Uint8Array(28 * 28) };
    expect(() => pixelsToPatches(short, RELEASED)).toThrow('needs 2352');
  });
});

describe('what is no 8-bit RGB image is an InputError, before anything fills up what is missing', () => {
  test.each<[string, unknown, string]>([
    ['nothing', null, 'got null'],
    ['undefined', undefined, 'got undefined'],
    ['a number', 3, 'got number'],
    ['an empty object', {}, 'undefinedxundefined'],
    ['too few bytes', { data: new Uint8Array(3), width: 2, height: 2 }, '3 bytes, 2x2 RGB needs 12'],
    ['RGBA', { data: new Uint8Array(100 * 100 * 4), width: 100, height: 100 }, '40000 bytes'],
    ['grey', { data: new Uint8Array(100 * 100), width: 100, height: 100 }, '10000 bytes'],
    ['a fractional side', { data: new Uint8Array(315), width: 10.5, height: 10 }, '10.5x10, its sides'],
    ['a side of 0', { data: new Uint8Array(0), width: 0, height: 10 }, '0x10, its sides'],
    ['a negative side', { data: new Uint8Array(300), width: -10, height: -10 }, '-10x-10, its sides'],
    ['a side as text', { data: new Uint8Array(300), width: '10', height: 10 }, 'its sides'],
    ['a list of numbers', { data: Array(300).fill(7), width: 10, height: 10 }, 'must be a Uint8Array'],
    ['floats', { data: new Float32Array(300), width: 10, height: 10 }, 'must be a Uint8Array'],
  ])('%s', (_what, image, message) => {
    for (const use of [preprocess, pixelsToPatches, resizeForModel]) {
      const call = () => use(image as RgbImage, RELEASED);
      expect(call).toThrow(InputError);
      expect(call).toThrow(message);
    }
  });
});

describe('preprocess', () => {
  test('an image of its final size keeps its pixels', () => {
    const image = randomImage(84, 56, 3);
    expect(preprocess(image, RELEASED).patches).toEqual(pixelsToPatches(image, RELEASED).patches);
  });

  test('a flat image stays flat through resizing', () => {
    const image = { width: 100, height: 70, data: new Uint8Array(100 * 70 * 3).fill(255) };
    const { patches, grid } = preprocess(image, RELEASED);
    expect(grid).toEqual({ h: 4, w: 8 });
    const expected = new Set(
      [0.48145466, 0.4578275, 0.40821073].map((m, c) =>
        Math.fround((1 - m) / [0.26862954, 0.26130258, 0.27577711][c]!),
      ),
    );
    expect(new Set(patches)).toEqual(expected);
  });
});

describe('resizeBicubic', () => {
  const grey = (width: number, height: number, values: number[]): RgbImage => ({
    width,
    height,
    data: Uint8Array.from(values.flatMap((v) => [v, v, v])),
  });
  const greys = (image: RgbImage) => [...image.data].filter((_, i) => i % 3 === 0);

  // Values of Pillow 13.0.0, Image.resize(size, Image.Resampling.BICUBIC).
  test('a step edge enlarged 2 times overshoots and is clipped', () => {
    expect(greys(resizeBicubic(grey(4, 1, [0, 0, 255, 255]), 1, 8))).toEqual([
      0, 0, 0, 52, 203, 255, 255, 255,
    ]);
  });

  test('8 columns reduced to 3 are antialiased', () => {
    expect(greys(resizeBicubic(grey(8, 1, [10, 200, 30, 90, 250, 0, 60, 120]), 1, 3))).toEqual([90, 120, 75]);
  });

  test('columns scale like rows', () => {
    expect(greys(resizeBicubic(grey(1, 8, [10, 200, 30, 90, 250, 0, 60, 120]), 3, 1))).toEqual([90, 120, 75]);
  });
});

describe('parseProcessorConfig', () => {
  test('limits in the newer form', () => {
    const config = parseProcessorConfig({ size: { shortest_edge: 100, longest_edge: 200 } });
    expect([config.minPixels, config.maxPixels]).toEqual([100, 200]);
  });

  test('a deviation of 0 is refused', () => {
    expect(() => parseProcessorConfig({ image_std: [0, 1, 1] })).toThrow(CheckpointError);
  });
});
