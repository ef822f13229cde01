import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type RgbImage, Rng } from '../../src/core/index.ts';
import { ssim } from '../../src/data/similarity.ts';

const folder = join(import.meta.dirname, '../../../shared/data/fr_metric_refs/ResultsCalibra');

/** An uncompressed 24-bit BMP, rows from the bottom up, as the grey of whole numbers that MATLAB compares. */
function readBmp(path: string): RgbImage {
  const file = readFileSync(path);
  const start = file.readUInt32LE(10);
  const [width, height] = [file.readInt32LE(18), file.readInt32LE(22)];
  expect(file.readUInt16LE(28)).toBe(24);
  const stride = Math.ceil((width * 3) / 4) * 4;
  const data = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = start + (height - 1 - y) * stride + x * 3;
      const grey = Math.round(0.2989 * file[at + 2]! + 0.587 * file[at + 1]! + 0.114 * file[at]!);
      data.fill(grey, (y * width + x) * 3, (y * width + x) * 3 + 3);
    }
  }
  return { data, width, height };
}

describe('ssim', () => {
  it.skipIf(!existsSync(folder)).each([
    ['I03', 0.6993],
    ['I04', 0.9978],
    ['I06', 0.9989],
    ['I08', 0.9669],
    ['I19', 0.6519],
  ])('%s has the official %f', (name, expected) => {
    const [a, b] = ['ref_dir', 'dist_dir'].map((part) => readBmp(join(folder, part, `${name}.bmp`)));
    expect(Math.abs(ssim(a!, b!) - expected)).toBeLessThan(0.0002);
  });
  if (!existsSync(folder)) console.log(`no ${folder}: SSIM is not compared with official values`);

  it('is 1 for equal pictures and that of the means for flat ones', () => {
    const flat = (value: number): RgbImage => ({
      data: new Uint8Array(16 * 16 * 3).fill(value),
      width: 16,
      height: 16,
    });
    const rng = new Rng(1);
    const noise = { ...flat(0), data: Uint8Array.from({ length: 768 }, () => rng.integer(256)) };
    expect(ssim(noise, noise)).toBeCloseTo(1, 6);
    const c1 = 2.55 ** 2;
    expect(ssim(flat(100), flat(50))).toBeCloseTo((2 * 100 * 50 + c1) / (100 ** 2 + 50 ** 2 + c1), 4);
  });

  it('refuses other sizes and pictures smaller than its window', () => {
    const blank = (width: number, height: number) => ({
      data: new Uint8Array(width * height * 3),
      width,
      height,
    });
    expect(() => ssim(blank(12, 12), blank(12, 13))).toThrow(/12x12 and 12x13 differ/);
    expect(() => ssim(blank(10, 30), blank(10, 30))).toThrow(/at least 11 pixels/);
  });
});
