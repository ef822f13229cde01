import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { Rng } from '../../../src/core/index.ts';
import { renderScene } from '../../../src/data/scenes.ts';
import { factsOf } from '../../../src/data/validate/image-facts.ts';
import { nearPairs } from '../../../src/data/validate/near-duplicates.ts';
import { hashDistance, hashWords, perceptualHash } from '../../../src/data/validate/perceptual-hash.ts';

const rng = new Rng('phash');
const grey = Float64Array.from({ length: 1024 }, () => rng.uniform(0, 255));

describe('perceptualHash', () => {
  it('holds the signs of the DCT about their median, by the textbook sum', () => {
    const coefficients: number[] = [];
    for (let v = 1; v <= 8; v++) {
      for (let u = 1; u <= 8; u++) {
        let sum = 0;
        for (let y = 0; y < 32; y++) {
          for (let x = 0; x < 32; x++) {
            sum +=
              grey[32 * y + x]! *
              Math.cos(((2 * x + 1) * u * Math.PI) / 64) *
              Math.cos(((2 * y + 1) * v * Math.PI) / 64);
          }
        }
        coefficients.push(sum);
      }
    }
    const sorted = coefficients.toSorted((a, b) => a - b);
    const median = (sorted[31]! + sorted[32]!) / 2;
    const bits = coefficients.map((value) => (value > median ? '1' : '0')).join('');
    expect(BigInt(`0x${perceptualHash(grey)}`)).toBe(BigInt(`0b${bits}`));
  });

  it('ignores brightness and contrast', () => {
    expect(perceptualHash(grey.map((value) => 0.5 * value + 40))).toBe(perceptualHash(grey));
  });

  it('turns into its complement with the negative', () => {
    const [a, b] = [perceptualHash(grey), perceptualHash(grey.map((value) => 255 - value))].map(hashWords);
    expect(hashDistance(a!, b!)).toBe(64);
  });
});

describe('distance', () => {
  it('counts bits', () => {
    expect(hashDistance(hashWords('0000000000000000'), hashWords('8000000100000007'))).toBe(5);
  });

  it('finds all pairs that comparing each with each finds, once', () => {
    const words = Array.from({ length: 40 }, () => rng.uint32().toString(16).padStart(8, '0'));
    const flip = (hash: string, bits: number): string => {
      let value = BigInt(`0x${hash}`);
      for (let i = 0; i < bits; i++) value ^= 1n << BigInt(rng.integer(64));
      return value.toString(16).padStart(16, '0');
    };
    const hashes: (string | null)[] = words.flatMap((word, i) => {
      const hash = word + words[(i + 1) % 40]!;
      return [hash, flip(hash, 2), flip(hash, 5), null];
    });
    for (const most of [0, 3, 6]) {
      const expected: [number, number, number][] = [];
      for (const [i, a] of hashes.entries()) {
        for (let j = i + 1; j < hashes.length; j++) {
          const b = hashes[j]!;
          if (a === null || b === null) continue;
          const distance = (BigInt(`0x${a}`) ^ BigInt(`0x${b}`)).toString(2).replaceAll('0', '').length;
          if (distance <= most) expected.push([i, j, distance]);
        }
      }
      expect(nearPairs(hashes, most)).toEqual(expected);
    }
  });
});

describe('of files', () => {
  const scenes = ['landscape', 'buildings', 'objects', 'sign'] as const;
  const rawOf = (i: number) => {
    const { data, width, height } = renderScene(new Rng(i), 192, scenes[i]!).image;
    return sharp(data, { raw: { width, height, channels: 3 } });
  };

  it('survives compression and scaling, and tells scenes apart', async () => {
    const hashes: [number, number][][] = [];
    for (const i of scenes.keys()) {
      const files = [
        await rawOf(i).png().toBuffer(),
        await rawOf(i).jpeg({ quality: 60 }).toBuffer(),
        await rawOf(i).resize(144, 144).jpeg({ quality: 80 }).toBuffer(),
      ];
      hashes.push(
        await Promise.all(files.map(async (file) => hashWords((await factsOf(file, 1e6)).perceptualHash!))),
      );
    }
    for (const [a, same] of hashes.entries()) {
      for (const one of same) expect(hashDistance(same[0]!, one)).toBeLessThanOrEqual(4);
      for (const other of hashes.slice(a + 1)) expect(hashDistance(same[0]!, other[0]!)).toBeGreaterThan(10);
    }
  });

  it('gives a flat picture no hash, and the contrast of stripes', async () => {
    const flat = await sharp({ create: { width: 40, height: 40, channels: 3, background: '#777' } })
      .png()
      .toBuffer();
    expect(await factsOf(flat, 1e6)).toMatchObject({ perceptualHash: null, contrast: 0, sharpness: 0 });
    const data = Buffer.from(Array.from({ length: 40 * 40 }, (_, i) => (i % 2 === 0 ? 100 : 140)));
    const stripes = await sharp(data, { raw: { width: 40, height: 40, channels: 1 } })
      .png()
      .toBuffer();
    // Half the pixels 20 below and half 20 above the mean; each Laplacian is 2 times 40.
    expect(await factsOf(stripes, 1e6)).toMatchObject({ contrast: 20, sharpness: Math.log1p(80 ** 2) });
  });
});
