import { describe, expect, test } from 'vitest';
import { InputError } from '../../src/core/index.ts';
import { roundHalfToEven, smartResize } from '../../src/model/index.ts';

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

  test('a sliver above the limit keeps one unit of height', () => {
    const limits = { factor: 28, minPixels: 28 * 28, maxPixels: 28 * 28 * 4 };
    expect(smartResize(10, 1900, limits)).toEqual({ height: 28, width: 756 });
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
