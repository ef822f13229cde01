import { describe, expect, it, test } from 'vitest';
import { CheckpointError, InputError, type RgbImage } from '../../src/core/index.ts';
import { fixedViews, parseProcessorConfig, scaleForViews, withViews } from '../../src/model/index.ts';

/** A picture whose red is the column, green the row. */
function numbered(width: number, height: number): RgbImage {
  const data = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) data.set([x, y, 0], (y * width + x) * 3);
  }
  return { data, width, height };
}

const cornersOf = ({ data, width, height }: RgbImage) => {
  const last = (width * height - 1) * 3;
  return [data[0], data[1], data[last], data[last + 1]];
};

describe('views at fixed places', () => {
  it('one is the centre', () => {
    const [centre, ...others] = fixedViews(numbered(10, 6), { shortSide: 6, crop: 4, count: 1 });
    expect(others).toEqual([]);
    expect([centre!.width, centre!.height]).toEqual([4, 4]);
    expect(cornersOf(centre!)).toEqual([3, 1, 6, 4]);
  });

  it('five are the centre and the corners', () => {
    const views = fixedViews(numbered(10, 6), { shortSide: 6, crop: 4, count: 5 });
    expect(views.map(cornersOf)).toEqual([
      [3, 1, 6, 4],
      [0, 0, 3, 3],
      [6, 0, 9, 3],
      [0, 2, 3, 5],
      [6, 2, 9, 5],
    ]);
  });

  it('nine are a grid of three by three', () => {
    const views = fixedViews(numbered(10, 6), { shortSide: 6, crop: 4, count: 9 });
    const places = views.map((view) => cornersOf(view).slice(0, 2).join(' ')).sort();
    expect(places).toEqual(['0 0', '0 1', '0 2', '3 0', '3 1', '3 2', '6 0', '6 1', '6 2']);
  });

  it('every pixel of a view is the one of the picture', () => {
    const [centre] = fixedViews(numbered(10, 6), { shortSide: 6, crop: 4, count: 1 });
    const expected = [1, 2, 3, 4].flatMap((y) => [3, 4, 5, 6].flatMap((x) => [x, y, 0]));
    expect([...centre!.data]).toEqual(expected);
  });
});

describe('the size that views are cut from', () => {
  test.each([
    { from: [100, 50], to: [40, 20] },
    { from: [50, 100], to: [20, 40] },
    { from: [10, 10], to: [20, 20] },
    { from: [33, 20], to: [33, 20] },
  ])('$from becomes $to for a shorter side of 20', ({ from, to }) => {
    const { width, height } = scaleForViews(numbered(from[0]!, from[1]!), {
      shortSide: 20,
      crop: 14,
      count: 5,
    });
    expect([width, height]).toEqual(to);
  });

  it('a picture far longer than its views is refused, with its size', () => {
    expect(() => scaleForViews(numbered(400, 20), { shortSide: 20, crop: 14, count: 5 })).toThrow(InputError);
    expect(() => scaleForViews(numbered(400, 20), { shortSide: 20, crop: 14, count: 5 })).toThrow(
      '400x20; cut into views of 14 pixels its longer side may have at most 8 of them, this one has 28.6',
    );
  });
});

describe('views in the processor’s file', () => {
  const json = { patch_size: 14, merge_size: 2, min_pixels: 784, max_pixels: 50176 };
  const views = { short_side: 384, crop: 224, count: 5 };

  it('are read', () => {
    const config = parseProcessorConfig({ ...json, q_ponder_views: views });
    expect(config.views).toEqual({ shortSide: 384, crop: 224, count: 5 });
  });

  it('are absent in a file of others', () => {
    expect(parseProcessorConfig(json).views).toBeNull();
  });

  it('are written as they are read', () => {
    const config = withViews(parseProcessorConfig(json), { shortSide: 384, crop: 224, count: 5 });
    expect(config.source).toEqual({ ...json, q_ponder_views: views });
  });

  test.each([
    { change: { crop: 400 }, says: 'the crop 400 is larger than the short side 384' },
    { change: { crop: 200 }, says: 'the crop 200 is no multiple of 28' },
    { change: { crop: 252 }, says: 'the crop 252 has 63504 pixels, the processor takes 784 to 50176' },
    { change: { count: 3 }, says: 'q_ponder_views.count' },
    { change: { shape: 'round' }, says: 'q_ponder_views' },
  ])('$change is refused', ({ change, says }) => {
    const read = () => parseProcessorConfig({ ...json, q_ponder_views: { ...views, ...change } });
    expect(read).toThrow(CheckpointError);
    expect(read).toThrow(says);
  });
});
