import { describe, expect, test } from 'vitest';
import { InputError } from '../../src/core/index.ts';
import { imageTokenCount, roundHalfToEven, smartResize } from '../../src/model/index.ts';

const RELEASED = { factor: 28, minPixels: 3136, maxPixels: 12845056 };

describe('smartResize', () => {
  // Values of the original Python function.
  test.each([
    [768, 1024, 756, 1036],
    [384, 512, 392, 504],
    [500, 500, 504, 504],
    [288, 288, 280, 280],
    [512, 768, 504, 756],
    [3000, 4000, 2996, 4004],
    [70, 126, 56, 112], // 2.5 and 4.5 both round to even
    [1, 1, 56, 56],
  ])('%i x %i becomes %i x %i', (height, width, h, w) => {
    expect(smartResize(height, width, RELEASED)).toEqual({ height: h, width: w });
  });

  test('an upper limit', () => {
    expect(smartResize(3000, 4000, { ...RELEASED, maxPixels: 1003520 })).toEqual({
      height: 840,
      width: 1148,
    });
  });

  test('a lower limit', () => {
    expect(smartResize(384, 512, { ...RELEASED, minPixels: 200704 })).toEqual({ height: 392, width: 532 });
  });

  test.each([
    [1036, 756, 999],
    [504, 392, 252],
    [504, 504, 324],
    [280, 280, 100],
    [756, 504, 486],
    [4004, 2996, 15301],
    [1148, 840, 1230],
  ])('%i x %i is %s image tokens', (width, height, tokens) => {
    expect(imageTokenCount({ h: height / 14, w: width / 14 }, 2)).toBe(tokens);
  });

  test('a sliver above the limit keeps one unit of height', () => {
    const limits = { factor: 28, minPixels: 28 * 28, maxPixels: 28 * 28 * 4 };
    // sqrt(20 * 1900 / 3136) = 3.48; 20 / 3.48 is below one unit, 1900 / 3.48 / 28 is 19.5.
    expect(smartResize(20, 1900, limits)).toEqual({ height: 28, width: 532 });
  });

  test('a side below half a unit counts as 0 and brings in the lower limit', () => {
    // sqrt(3136 / (13 * 1000)) = 0.491; 13 * 0.491 needs one unit, 1000 * 0.491 / 28 is 17.5.
    expect(smartResize(13, 1000, RELEASED)).toEqual({ height: 28, width: 504 });
    expect(smartResize(14, 1000, RELEASED)).toEqual({ height: 28, width: 476 });
    expect(smartResize(15, 1000, RELEASED)).toEqual({ height: 28, width: 1008 });
  });

  test.each([
    [10, 2001, 'aspect ratio'],
    [0, 10, 'empty'],
    [Number.NaN, 10, 'empty'],
  ])('%f x %f is refused', (height, width, message) => {
    expect(() => smartResize(height, width, RELEASED)).toThrow(InputError);
    expect(() => smartResize(height, width, RELEASED)).toThrow(message);
  });
});

test('halves round to even as in Python', () => {
  expect([0.5, 1.5, 2.5, 3.5, -0.5, -1.5, 2.4, 2.6].map(roundHalfToEven)).toEqual([0, 2, 2, 4, 0, -2, 2, 3]);
});
