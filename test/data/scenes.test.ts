import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import { luma } from '../../src/data/raster.ts';
import { busynessOf, renderScene, SCENE_KINDS } from '../../src/data/scenes.ts';

describe.each(SCENE_KINDS)('a %s', (kind) => {
  const scenes = Array.from({ length: 6 }, (_, i) => renderScene(new Rng(`${kind} ${i}`), 96, kind).image);

  it('is the same for the same seed and differs for another', () => {
    expect(renderScene(new Rng(`${kind} 0`), 96, kind).image).toEqual(scenes[0]);
    expect(scenes[1]).not.toEqual(scenes[0]);
  });

  it('is exposed to mid-grey and uses the tonal range', () => {
    for (const { data } of scenes) {
      const lumas = Array.from({ length: data.length / 3 }, (_, i) =>
        luma(data[3 * i]!, data[3 * i + 1]!, data[3 * i + 2]!),
      ).sort((a, b) => a - b);
      const mean = lumas.reduce((sum, value) => sum + value, 0) / lumas.length;
      expect(mean).toBeGreaterThan(100);
      expect(mean).toBeLessThan(140);
      expect(lumas[Math.floor(lumas.length * 0.005)]!).toBeLessThan(40);
      expect(lumas[Math.floor(lumas.length * 0.995)]!).toBeGreaterThan(205);
    }
  });

  it('has a weaker cast than the weakest colour shift made of it', () => {
    for (const { data } of scenes) {
      const means = [0, 1, 2].map((c) => {
        let sum = 0;
        for (let i = c; i < data.length; i += 3) sum += data[i]!;
        return (3 * sum) / data.length;
      });
      const grey = luma(means[0]!, means[1]!, means[2]!);
      for (const mean of means) expect(Math.abs(mean - grey)).toBeLessThan(30);
    }
  });
});

describe('busynessOf', () => {
  const grey = (values: number[], width: number) => ({
    data: values.flatMap((value) => [value, value, value]),
    width,
    height: values.length / width,
  });

  it('is 0 for a flat image and for a single pixel', () => {
    expect(busynessOf(grey([7, 7, 7, 7], 2))).toBe(0);
    expect(busynessOf(grey([7], 1))).toBe(0);
  });

  it('is 1 - exp(-g / 12) for the mean difference g of neighbours', () => {
    // The one pixel with both neighbours differs by 12 to the right and by 0 downwards: g = 6.
    expect(busynessOf(grey([100, 112, 100, 100], 2))).toBeCloseTo(1 - Math.exp(-0.5), 6);
  });
});
