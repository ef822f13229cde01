import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Rng } from '../../../src/core/index.ts';
import type { ImageRecord } from '../../../src/data/index.ts';
import { fitBaseline, imageFeatures, predictBaseline } from '../../../src/evaluate/baselines/index.ts';
import { applyRidge, chooseRidge, fitRidge } from '../../../src/evaluate/baselines/ridge.ts';

const record = (id: string, mos: number): ImageRecord => ({
  id,
  image: `${id}.png`,
  dataset: 'made-up',
  split: 'train',
  mos,
  mosStd: null,
  raters: null,
  distortions: [],
  content: null,
  group: id,
  source: 'imported',
  generator: null,
});

const features = (size: number) => ({
  mean: [],
  'file-size': [size],
  sharpness: [0],
  contrast: [0],
  colorfulness: [0],
  statistics: [size],
});

describe('ridge regression', () => {
  it('one feature by hand: standardised -1, 1 against -2, 2, strength 1 halves the slope', () => {
    const model = fitRidge([[10], [20]], [1, 5], 1);
    expect(model).toMatchObject({ means: [15], scales: [5], intercept: 3 });
    expect(model.weights[0]).toBeCloseTo(1, 12);
    expect(applyRidge(model, [30])).toBeCloseTo(6, 12);
  });

  it('without strength it is least squares: 1 + 2 a - b is found again', () => {
    const rng = new Rng('ridge');
    const rows = Array.from({ length: 40 }, () => [rng.uniform(0, 9), rng.uniform(-3, 3)]);
    const model = fitRidge(
      rows,
      rows.map(([a, b]) => 1 + 2 * a! - b!),
      1e-12,
    );
    expect(applyRidge(model, [4, 1])).toBeCloseTo(8, 8);
    expect(applyRidge(model, [0, 0])).toBeCloseTo(1, 8);
  });

  it('a feature that never varies counts nothing, even where it does later', () => {
    const model = fitRidge([[1, 7], [2, 7], [3, 7]], [1, 2, 3], 1e-12); // biome-ignore format: rows
    expect(applyRidge(model, [2, 1000])).toBeCloseTo(2, 8);
  });

  it('chooses little strength for a clear line and much for noise', () => {
    const rng = new Rng('choice');
    const rows = Array.from({ length: 60 }, () => Array.from({ length: 20 }, () => rng.normal()));
    const groups = rows.map((_, i) => `g${i}`);
    const line = rows.map((row) => 3 * row[0]!);
    const noise = rows.map(() => rng.normal());
    expect(chooseRidge(rows, line, groups, new Rng(1)).lambda).toBe(1e-4);
    expect(chooseRidge(rows, noise, groups, new Rng(1)).lambda).toBe(10);
  });

  it('one image is too few', () => {
    expect(() => fitRidge([[1]], [3], 1)).toThrow('at least 2 images');
  });
});

describe('baselines', () => {
  const train = [record('a', 2), record('b', 3), record('c', 4)];
  const trainFeatures = [features(30), features(20), features(10)];

  it('the mean is the same for every image', () => {
    const mean = fitBaseline('mean', train, trainFeatures);
    const rows = predictBaseline(mean, [record('x', 1), record('y', 5)], [features(0), features(9)]);
    expect(rows.map(({ score }) => score)).toEqual([3, 3]);
  });

  it('learns the sign: smaller files are better here, and what leaves the scale is cut', () => {
    const size = fitBaseline('file-size', train, trainFeatures);
    const rows = predictBaseline(size, [record('x', 1), record('y', 5)], [features(25), features(-1000)]);
    expect(rows[0]!.score!).toBeLessThan(3);
    expect(rows[0]!.score!).toBeGreaterThan(2.4);
    expect(rows[1]!.score).toBe(5);
    expect(rows[0]).toMatchObject({ id: 'x', mos: 1, text: '', status: 'ok' });
  });
});

describe('features of a file', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'baseline-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('bits per pixel, sharpness, contrast and colourfulness of a flat red square', async () => {
    const path = join(folder, 'red.png');
    const { size } = await sharp({
      create: { width: 20, height: 20, channels: 3, background: '#ff0000' },
    })
      .png()
      .toFile(path);
    const found = await imageFeatures(path);
    expect(found['file-size'][0]).toBeCloseTo(Math.log((8 * size) / 400), 12);
    expect(found.sharpness[0]).toBeCloseTo(0, 12);
    expect(found.contrast[0]).toBeCloseTo(0, 9);
    expect(found.colorfulness[0]).toBeCloseTo(0.3 * Math.hypot(255, 127.5), 9);
    expect(found.statistics).toHaveLength(41);
  });

  it('a picture of a few pixels is refused with its size', async () => {
    const path = join(folder, 'tiny.png');
    await sharp({ create: { width: 40, height: 8, channels: 3, background: '#fff' } })
      .png()
      .toFile(path);
    await expect(imageFeatures(path)).rejects.toThrow('is 40x8');
  });
});
