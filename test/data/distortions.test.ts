import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { type RgbImage, Rng } from '../../src/core/index.ts';
import { ALL_DISTORTIONS, type DistortionType } from '../../src/data/distortion-types.ts';
import { discTaps, motionTaps } from '../../src/data/distortions/blur.ts';
import { applyDistortion } from '../../src/data/distortions.ts';
import { luma } from '../../src/data/raster.ts';
import { renderScene } from '../../src/data/scenes.ts';
import { levelOfStrength } from '../../src/data/strength.ts';

const flat = (color: readonly [number, number, number], size = 64): RgbImage => ({
  data: Uint8Array.from({ length: size * size * 3 }, (_, i) => color[i % 3]!),
  width: size,
  height: size,
});

const distort = (image: RgbImage, type: DistortionType, strength: number) =>
  applyDistortion(image, type, strength, new Rng('fixed'));

const statistics = (data: ArrayLike<number>) => {
  const values = Array.from(data);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return { mean, std: Math.sqrt(variance) };
};

const scene = renderScene(new Rng(11), 64, 'buildings').image;

describe.each(ALL_DISTORTIONS)('%s', (type) => {
  it('repeats for the same rng and leaves its input alone', async () => {
    const before = scene.data.slice();
    const once = await distort(scene, type, 3);
    expect(await distort(scene, type, 3)).toEqual(once);
    expect(scene.data).toEqual(before);
  });

  it('moves the image further away at every level', async () => {
    const distances: number[] = [];
    for (const strength of [1, 2, 3, 4, 5]) {
      const { data } = await distort(scene, type, strength);
      distances.push(
        Math.sqrt(data.reduce((sum, value, i) => sum + (value - scene.data[i]!) ** 2, 0) / data.length),
      );
    }
    expect(distances[0]).toBeGreaterThan(0);
    for (let i = 1; i < 5; i++) expect(distances[i]).toBeGreaterThan(distances[i - 1]!);
  });
});

it('rounds strengths to the five levels', () => {
  expect([0.5, 1.49, 1.5, 3.2, 5.5].map(levelOfStrength)).toEqual([1, 1, 2, 3, 5]);
});

it('refuses strengths outside its range', async () => {
  await expect(distort(scene, 'haze', 5.6)).rejects.toThrow(/0 to 5.5, got 5.6/);
  await expect(distort(scene, 'jpeg', Number.NaN)).rejects.toThrow(/NaN/);
});

describe('blurs', () => {
  it('spreads a point over the Gaussian kernel', async () => {
    const image = flat([0, 0, 0], 33);
    image.data.fill(255, (16 * 33 + 16) * 3, (16 * 33 + 16) * 3 + 3);
    const { data } = await distort(image, 'gaussianBlur', 3);
    // sigma 1.6 at level 3; the discrete kernel sums to sqrt(2 pi) sigma closely.
    const expected = (dx: number, dy: number) =>
      (255 * Math.exp(-(dx * dx + dy * dy) / (2 * 1.6 ** 2))) / (2 * Math.PI * 1.6 ** 2);
    for (const [dx, dy] of [
      [0, 0],
      [1, 0],
      [0, 1],
      [2, 1],
      [3, 0],
    ] as const) {
      expect(Math.abs(data[((16 + dy) * 33 + 16 + dx) * 3]! - expected(dx, dy))).toBeLessThanOrEqual(0.52);
    }
  });

  it('moves along a path: nine samples over two pixels, shared between neighbours', () => {
    const weightAt = (dx: number) =>
      motionTaps(2, 0)
        .filter((tap) => tap.dx === dx && tap.dy === 0)
        .reduce((sum, tap) => sum + tap.weight, 0);
    // Samples at -1, -.75, ... 1: pixel -1 gets 1 + .75 + .5 + .25 of nine, pixel 0 gets 4.
    expect(weightAt(-1)).toBeCloseTo(2.5 / 9, 12);
    expect(weightAt(0)).toBeCloseTo(4 / 9, 12);
    expect(weightAt(1)).toBeCloseTo(2.5 / 9, 12);
  });

  it('centres the path whatever its direction', () => {
    const taps = motionTaps(7.5, 1.1);
    expect(taps.reduce((sum, tap) => sum + tap.weight, 0)).toBeCloseTo(1, 12);
    expect(taps.reduce((sum, tap) => sum + tap.weight * tap.dx, 0)).toBeCloseTo(0, 12);
    expect(taps.reduce((sum, tap) => sum + tap.weight * tap.dy, 0)).toBeCloseTo(0, 12);
  });

  it('spreads defocus over a disc with a soft rim', () => {
    const taps = discTaps(1.2);
    const total = 1 + 4 * 0.7 + 4 * (1.7 - Math.SQRT2);
    const weight = (dx: number, dy: number) =>
      taps.find((tap) => tap.dx === dx && tap.dy === dy)?.weight ?? 0;
    expect(weight(0, 0)).toBeCloseTo(1 / total, 12);
    expect(weight(1, 0)).toBeCloseTo(0.7 / total, 12);
    expect(weight(1, 1)).toBeCloseTo((1.7 - Math.SQRT2) / total, 12);
    expect(weight(2, 0)).toBe(0);
  });
});

describe('noises', () => {
  it('adds Gaussian noise of the stated standard deviation', async () => {
    const { data } = await distort(flat([128, 128, 128], 128), 'gaussianNoise', 3);
    const { mean, std } = statistics(data);
    expect(Math.abs(mean - 128)).toBeLessThan(0.4);
    // 21 at level 3, plus rounding noise of 1/12; four standard errors of 21 / sqrt(2 n).
    expect(Math.abs(std - Math.hypot(21, Math.sqrt(1 / 12)))).toBeLessThan(
      (4 * 21) / Math.sqrt(2 * data.length),
    );
  });

  it('scales speckle with the pixel value', async () => {
    const dark = statistics((await distort(flat([50, 50, 50], 128), 'speckleNoise', 3)).data);
    const bright = statistics((await distort(flat([100, 100, 100], 128), 'speckleNoise', 3)).data);
    expect(Math.abs(dark.std - 50 * 0.19)).toBeLessThan(0.15);
    expect(Math.abs(bright.std - 100 * 0.19)).toBeLessThan(0.3);
  });

  it('replaces the stated share of pixels by black and white in equal parts', async () => {
    const { data } = await distort(flat([90, 120, 150], 200), 'impulseNoise', 4);
    let black = 0;
    let white = 0;
    let changed = 0;
    for (let i = 0; i < data.length; i += 3) {
      const pixel = [...data.subarray(i, i + 3)];
      if (pixel.every((value) => value === 0)) black++;
      else if (pixel.every((value) => value === 255)) white++;
      else if (pixel.join() !== '90,120,150') changed++;
    }
    expect(changed).toBe(0);
    const n = 200 * 200;
    const error = 4 * Math.sqrt(0.045 * 0.955 * n);
    expect(Math.abs(black - 0.045 * n)).toBeLessThan(error);
    expect(Math.abs(white - 0.045 * n)).toBeLessThan(error);
  });
});

it('compresses as a JPEG encoder at that quality', async () => {
  const file = await sharp(scene.data, { raw: { width: 64, height: 64, channels: 3 } })
    .jpeg({ quality: 14 })
    .toBuffer();
  const expected = await sharp(file).raw().toBuffer();
  expect(Buffer.from((await distort(scene, 'jpeg', 3)).data).equals(expected)).toBe(true);
});

describe('exposure and colour', () => {
  it('overexposes by gain and lift and clips', async () => {
    const { data } = await distort(flat([100, 40, 200]), 'overexposure', 3);
    expect([...data.subarray(0, 3)]).toEqual([199, 88, 255]);
  });

  it('underexposes by gamma and gain', async () => {
    const { data } = await distort(flat([100, 0, 255]), 'underexposure', 3);
    expect([...data.subarray(0, 3)]).toEqual([
      Math.round(255 * 0.55 * (100 / 255) ** 1.8),
      0,
      Math.round(255 * 0.55),
    ]);
  });

  it('scales contrast about the mean luma', async () => {
    const { data } = await distort(scene, 'lowContrast', 3);
    const before = statistics(scene.data.filter((_, i) => i % 3 === 1));
    const after = statistics(data.filter((_, i) => i % 3 === 1));
    expect(after.std / before.std).toBeCloseTo(0.41, 2);
  });

  it('shifts colour by the stated offset without changing luma', async () => {
    const { data } = await distort(flat([128, 128, 128]), 'colorShift', 3);
    const [red, green, blue] = [...data.subarray(0, 3)] as [number, number, number];
    expect(Math.max(...[red, green, blue].map((value) => Math.abs(value - 128)))).toBe(50);
    expect(Math.abs(luma(red, green, blue) - 128)).toBeLessThan(0.51);
  });

  it('desaturates to the grey of equal luma at level 5', async () => {
    const { data } = await distort(flat([200, 100, 50]), 'desaturation', 5);
    // .299 * 200 + .587 * 100 + .114 * 50 = 124.2
    expect([...data.subarray(0, 3)]).toEqual([124, 124, 124]);
  });

  it('leaves three tones at the strongest banding', async () => {
    const ramp: RgbImage = {
      data: Uint8Array.from({ length: 256 * 3 }, (_, i) => i / 3),
      width: 256,
      height: 1,
    };
    const { data } = await distort(ramp, 'banding', 5);
    expect([...new Set(data)]).toEqual([0, 128, 255]);
    expect(data[63 * 3]).toBe(0);
    expect(data[64 * 3]).toBe(128);
  });

  it('lays haze by transmission, thicker towards the top', async () => {
    const airlight = new Rng('fixed').uniform(205, 235);
    const { data } = await distort(flat([40, 40, 40]), 'haze', 3);
    const expected = (t: number) => Math.round(40 * t + airlight * (1 - t));
    expect(data[0]).toBe(expected(0.5 * 0.84));
    expect(data[63 * 64 * 3]).toBe(expected(0.5 * 1.16));
  });
});

describe('detail', () => {
  it('replaces every block by its mean', async () => {
    const rng = new Rng('fixed');
    const [phaseX, phaseY] = [rng.uniform(), rng.uniform()];
    const block = 2.3;
    const cell = (i: number, phase: number) => Math.floor((i + 0.5) / block + phase);
    const { data } = await distort(scene, 'pixelation', 2);
    for (const [x, y] of [
      [0, 0],
      [31, 17],
      [63, 63],
    ] as const) {
      const same: number[] = [];
      for (let v = 0; v < 64; v++) {
        for (let u = 0; u < 64; u++) {
          const inCell = cell(u, phaseX) === cell(x, phaseX) && cell(v, phaseY) === cell(y, phaseY);
          if (inCell) same.push(scene.data[(v * 64 + u) * 3 + 1]!);
        }
      }
      const mean = same.reduce((sum, value) => sum + value, 0) / same.length;
      expect(Math.abs(data[(y * 64 + x) * 3 + 1]! - mean)).toBeLessThanOrEqual(0.5);
    }
  });

  it('sharpens a point by the difference to its blurred self', async () => {
    const image = flat([100, 100, 100], 33);
    const centre = (16 * 33 + 16) * 3;
    image.data.fill(110, centre, centre + 3);
    const { data } = await distort(image, 'oversharpening', 3);
    const peak = 1 / (2 * Math.PI * 1.2 ** 2);
    expect(Math.abs(data[centre]! - (110 + 2.9 * 10 * (1 - peak)))).toBeLessThanOrEqual(0.55);
    expect(data[0]).toBe(100);
  });
});
