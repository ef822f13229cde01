import { describe, expect, it } from 'vitest';
import { Rng } from '../../../src/core/index.ts';
import { siteColor, throughMosaic } from '../../../src/data/capture/mosaic.ts';
import { apertureTaps, pathTaps, shakePath } from '../../../src/data/capture/optics.ts';
import { createRaster } from '../../../src/data/raster.ts';

describe('the mosaic', () => {
  it('has two green sites to one red and one blue', () => {
    expect([siteColor(0, 0), siteColor(1, 0), siteColor(0, 1), siteColor(1, 1)]).toEqual([0, 1, 1, 2]);
  });

  it('keeps a site its own color and gives it the mean of its neighbours for the others', () => {
    const image = createRaster(4, 4);
    for (let i = 0; i < image.data.length; i++) image.data[i] = i;
    const { data } = throughMosaic(image);
    const value = (x: number, y: number, c: number) => (y * 4 + x) * 3 + c;
    // (1, 1) is a blue site: green from four sides, red from four corners.
    expect(data[value(1, 1, 2)]).toBe(value(1, 1, 2));
    expect(data[value(1, 1, 1)]).toBe(
      (value(0, 1, 1) + value(2, 1, 1) + value(1, 0, 1) + value(1, 2, 1)) / 4,
    );
    expect(data[value(1, 1, 0)]).toBe(
      (value(0, 0, 0) + value(2, 0, 0) + value(0, 2, 0) + value(2, 2, 0)) / 4,
    );
    // (1, 2) is a green site in a row of reds.
    expect(data[value(1, 2, 0)]).toBe((value(0, 2, 0) + value(2, 2, 0)) / 2);
    expect(data[value(1, 2, 2)]).toBe((value(1, 1, 2) + value(1, 3, 2)) / 2);
  });

  it('leaves a flat picture as it is, to the border', () => {
    const image = createRaster(5, 3);
    for (let i = 0; i < image.data.length; i++) image.data[i] = [10, 20, 30][i % 3]!;
    expect(throughMosaic(image).data).toEqual(image.data);
  });
});

describe('a path', () => {
  it('has the stated length and the same shape at every length', () => {
    const short = shakePath(4, new Rng(3));
    const long = shakePath(8, new Rng(3));
    const length = long
      .slice(1)
      .reduce((sum, [x, y], i) => sum + Math.hypot(x - long[i]![0], y - long[i]![1]), 0);
    expect(length).toBeCloseTo(8, 9);
    for (const [i, [x, y]] of short.entries()) {
      expect(long[i]![0]).toBeCloseTo(2 * x, 9);
      expect(long[i]![1]).toBeCloseTo(2 * y, 9);
    }
  });

  it('blurs without moving the picture', () => {
    const taps = pathTaps(shakePath(12, new Rng(5)));
    expect(taps.reduce((sum, { weight }) => sum + weight, 0)).toBeCloseTo(1, 12);
    expect(taps.reduce((sum, { weight, dx }) => sum + weight * dx, 0)).toBeCloseTo(0, 9);
    expect(taps.reduce((sum, { weight, dy }) => sum + weight * dy, 0)).toBeCloseTo(0, 9);
  });

  it('spreads two points over the pixels between them', () => {
    // About their mean: -0.25 and 0.25; each gives a quarter of its half weight to the far pixel.
    const taps = pathTaps([
      [3, 7],
      [3.5, 7],
    ]);
    expect(new Map(taps.map(({ dx, weight }) => [dx, weight]))).toEqual(
      new Map([
        [-1, 0.125],
        [0, 0.75],
        [1, 0.125],
      ]),
    );
  });
});

it('an aperture of six blades has the area of a hexagon', () => {
  const radius = 9;
  const taps = apertureTaps(radius, 0.3);
  const full = Math.max(...taps.map(({ weight }) => weight));
  const area = taps.reduce((sum, { weight }) => sum + weight / full, 0);
  expect(taps.reduce((sum, { weight }) => sum + weight, 0)).toBeCloseTo(1, 12);
  expect(Math.abs(area / (1.5 * Math.sqrt(3) * radius ** 2) - 1)).toBeLessThan(0.01);
});
