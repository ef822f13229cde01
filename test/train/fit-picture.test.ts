import { describe, expect, it } from 'vitest';
import { InputError, type RgbImage, Rng } from '../../src/core/index.ts';
import { parseProcessorConfig, preprocess } from '../../src/model/index.ts';
import { fitToProcessor } from '../../src/train/index.ts';

/** Blocks of 28 pixels, at most 16 of them: 12544 pixels. */
const processor = parseProcessorConfig({ min_pixels: 3136, max_pixels: 12544 });
const prepare = fitToProcessor(processor);

function noise(width: number, height: number): RgbImage {
  const rng = new Rng(`${width}x${height}`);
  return { data: Uint8Array.from({ length: width * height * 3 }, () => rng.integer(256)), width, height };
}

describe('fitToProcessor', () => {
  it.each([
    [112, 112],
    [100, 30],
    [1, 1],
  ])('leaves %i x %i, within the limit, as it is', (width, height) => {
    const image = noise(width, height);
    expect(prepare(image)).toBe(image);
  });

  it('keeps a large picture at the size the model sees', () => {
    // sqrt(300 * 200 / 12544) = 2.187: 300 / 2.187 = 137.2 and 200 / 2.187 = 91.4, down to blocks of 28.
    const { width, height, data } = prepare(noise(300, 200));
    expect([width, height, data.length]).toEqual([112, 84, 112 * 84 * 3]);
  });

  it.each([
    [300, 200],
    [113, 112],
    [140, 500],
    [5000, 30],
    [1000, 6],
    [30, 3000],
  ])('%i x %i: the model sees the same values as of the original', (width, height) => {
    const image = noise(width, height);
    const [got, wanted] = [preprocess(prepare(image), processor), preprocess(image, processor)];
    expect(got.grid).toEqual(wanted.grid);
    expect(Buffer.from(got.patches.buffer).equals(Buffer.from(wanted.patches.buffer))).toBe(true);
  });

  it.each([
    [402, 2],
    [1, 201],
  ])('refuses %i x %i, longer than 200 to 1', (width, height) => {
    expect(() => prepare(noise(width, height))).toThrow(InputError);
    expect(() => prepare(noise(width, height))).toThrow('an aspect ratio above 200');
  });
});
