/** Pictures of all kinds against transformers' processor (scripts/reference/record-qwen-pictures.py). */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { decodeImage } from '../../src/data/index.ts';
import { parseProcessorConfig, preprocess, smartResize } from '../../src/model/index.ts';

interface Recorded {
  processor: unknown;
  pictures: { name: string; file: string; grid: [number, number, number]; codes: string }[];
  /** [least pixels, most pixels, height, width, resized height, resized width] */
  sizes: [number, number, number, number, number, number][];
}

const recorded = JSON.parse(
  readFileSync(new URL('./fixtures/pictures.json', import.meta.url), 'utf8'),
) as Recorded;
const processor = parseProcessorConfig(recorded.processor);

/** Normalised patches back in units of 8-bit pixel values. */
function pixelUnits(patches: Float32Array): Float64Array {
  const { patchSize, temporalPatchSize, imageMean, imageStd } = processor;
  const perChannel = temporalPatchSize * patchSize ** 2;
  return Float64Array.from(patches, (value, i) => {
    const c = Math.floor(i / perChannel) % 3;
    return (value * imageStd[c]! + imageMean[c]!) * 255;
  });
}

test.each(recorded.pictures)('$name', async ({ file, grid, codes }) => {
  const image = preprocess(await decodeImage(Buffer.from(file, 'base64')), processor);
  expect([1, image.grid.h, image.grid.w]).toEqual(grid);
  const expected = Buffer.from(codes, 'base64');
  const own = pixelUnits(image.patches);
  const area = processor.patchSize ** 2;
  expect(own).toHaveLength(expected.length * processor.temporalPatchSize);
  let largest = 0;
  own.forEach((value, i) => {
    // Both frames of a patch hold the still picture, recorded once.
    const channel = Math.floor(i / (area * processor.temporalPatchSize));
    const difference = Math.abs(value - expected[channel * area + (i % area)]!);
    if (!(difference <= largest)) largest = difference;
  });
  expect(largest).toBeLessThanOrEqual(1.001); // one step of 8 bits, and float32
});

describe('smartResize', () => {
  test('172 sizes under four limits', () => {
    expect(recorded.sizes).toHaveLength(172);
    const differing = recorded.sizes.filter(([minPixels, maxPixels, height, width, h, w]) => {
      const own = smartResize(height, width, { factor: 28, minPixels, maxPixels });
      return own.height !== h || own.width !== w;
    });
    expect(differing).toEqual([]);
  });
});
