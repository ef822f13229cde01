import { describe, expect, it } from 'vitest';
import { type RgbImage, Rng } from '../../../src/core/index.ts';
import {
  CAPTURE12,
  DISTORTION_SETS,
  EXTRA_DISTORTIONS,
  type ExtraDistortion,
  KADID25,
  SYNTHESIZED_DISTORTIONS,
} from '../../../src/data/distortion-types.ts';
import { applyDistortion } from '../../../src/data/distortions.ts';
import { luma } from '../../../src/data/raster.ts';
import { renderScene } from '../../../src/data/scenes.ts';

const SIZE = 96;
const scene = renderScene(new Rng(11), SIZE, 'landscape').image;

const paint = (color: (x: number, y: number) => readonly [number, number, number]): RgbImage => {
  const data = new Uint8Array(SIZE * SIZE * 3);
  for (let y = 0; y < SIZE; y++) {
    for (let x = 0; x < SIZE; x++) data.set(color(x, y), (y * SIZE + x) * 3);
  }
  return { data, width: SIZE, height: SIZE };
};
const grey = (value: number) => [value, value, value] as const;
const flat = paint(() => grey(128));
const step = paint((x) => grey(x < SIZE / 2 ? 60 : 180));
const stripes = paint((x, y) => grey(Math.floor((x + y) / 7) % 2 === 0 ? 50 : 200));

type Statistic = (image: RgbImage, before: RgbImage) => number;

const planes = ({ data }: RgbImage): { y: number[]; cb: number[]; cr: number[] } => {
  const y: number[] = [];
  const cb: number[] = [];
  const cr: number[] = [];
  for (let i = 0; i < data.length; i += 3) {
    const value = luma(data[i]!, data[i + 1]!, data[i + 2]!);
    y.push(value);
    cb.push((data[i + 2]! - value) / 1.772);
    cr.push((data[i]! - value) / 1.402);
  }
  return { y, cb, cr };
};
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const std = (values: readonly number[]) => {
  const middle = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)));
};
/** Mean squared difference of horizontal and vertical neighbours. */
const gradient = (plane: readonly number[]) => {
  let sum = 0;
  for (let y = 1; y < SIZE; y++) {
    for (let x = 1; x < SIZE; x++) {
      const at = y * SIZE + x;
      sum += (plane[at]! - plane[at - 1]!) ** 2 + (plane[at]! - plane[at - SIZE]!) ** 2;
    }
  }
  return sum / (SIZE - 1) ** 2;
};

const lostDetail: Statistic = (image) => -gradient(planes(image).y);
const lumaNoise: Statistic = (image) => std(planes(image).y);
const meanChroma: Statistic = (image) => {
  const { cb, cr } = planes(image);
  return mean(cb.map((value, i) => Math.hypot(value, cr[i]!)));
};
const changedShare: Statistic = (image, before) => {
  const a = planes(image).y;
  const b = planes(before).y;
  return mean(a.map((value, i) => (Math.abs(value - b[i]!) > 1 ? 1 : 0)));
};
const distance: Statistic = (image, before) =>
  Math.sqrt(mean([...image.data].map((value, i) => (value - before.data[i]!) ** 2)));
const light = (value: number) =>
  value <= 0.04045 * 255 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;

/** For each type a statistic that its mechanism must drive up, and the picture on which it is measured. */
const MEASURED: Record<ExtraDistortion, [string, Statistic, RgbImage]> = {
  colorDiffusion: [
    'color edges lost',
    (image) => -gradient(planes(image).cb) - gradient(planes(image).cr),
    scene,
  ],
  colorDisplacement: [
    'color away from its place',
    (image, before) => {
      const [a, b] = [planes(image), planes(before)];
      return mean(a.cr.map((value, i) => Math.hypot(value - b.cr[i]!, a.cb[i]! - b.cb[i]!)));
    },
    scene,
  ],
  colorQuantization: [
    'colors missing',
    ({ data }) => {
      const colors = new Set<string>();
      for (let i = 0; i < data.length; i += 3) colors.add(data.subarray(i, i + 3).join());
      return -colors.size;
    },
    scene,
  ],
  oversaturation: ['mean chroma', meanChroma, scene],
  jpeg2000: ['detail lost', lostDetail, scene],
  chromaNoise: ['standard deviation of Cb', (image) => std(planes(image).cb), flat],
  denoising: ['detail lost', lostDetail, scene],
  brightening: ['mean luma', (image) => mean(planes(image).y), scene],
  darkening: ['darkness', (image) => -mean(planes(image).y), scene],
  meanShift: [
    'shift of the mean',
    (image, before) => Math.abs(mean(planes(image).y) - mean(planes(before).y)),
    flat,
  ],
  jitter: ['pixels on the wrong side of an edge', changedShare, step],
  patchDisplacement: ['area changed', changedShare, stripes],
  colorBlocks: ['area changed', changedShare, flat],
  contrastChange: [
    'log ratio of the contrast',
    (image, before) => Math.abs(Math.log(std(planes(image).y) / std(planes(before).y))),
    scene,
  ],
  sensorNoise: ['standard deviation of luma', lumaNoise, flat],
  demosaicing: ['detail lost', lostDetail, scene],
  cameraShake: ['detail lost', lostDetail, scene],
  apertureBlur: ['detail lost', lostDetail, scene],
  misexposure: [
    'stops of the mean light',
    (image) => Math.abs(Math.log2(light(image.data[0]!) / light(60))),
    paint(() => grey(60)),
  ],
  whiteBalance: [
    'log ratio of red and blue',
    ({ data }) => Math.abs(Math.log(light(data[0]!) / light(data[2]!))),
    paint(() => grey(90)),
  ],
  hdrHalo: [
    'overshoot beside an edge',
    (image) => {
      const row = planes(image).y.slice(48 * SIZE, 49 * SIZE);
      return Math.max(...row) - row[SIZE - 1]!;
    },
    step,
  ],
  upscaling: ['detail lost', lostDetail, scene],
  chromaticAberration: ['color on grey edges', meanChroma, stripes],
  recompression: ['distance', distance, scene],
};

describe.each(EXTRA_DISTORTIONS)('%s', (type) => {
  const [what, statistic, picture] = MEASURED[type];

  it(`drives up at every level: ${what}`, async () => {
    const values = [statistic(picture, picture)];
    for (const level of [1, 2, 3, 4, 5]) {
      values.push(statistic(await applyDistortion(picture, type, level, new Rng('fixed')), picture));
    }
    for (let i = 1; i < values.length; i++)
      expect(values[i], values.join(' ')).toBeGreaterThan(values[i - 1]!);
  });

  it('moves the picture further away at every level', async () => {
    const distances = [0];
    for (const level of [1, 2, 3, 4, 5]) {
      distances.push(distance(await applyDistortion(scene, type, level, new Rng('fixed')), scene));
    }
    for (let i = 1; i < 6; i++) expect(distances[i], distances.join(' ')).toBeGreaterThan(distances[i - 1]!);
  });

  it('repeats for the same rng, leaves its input alone and keeps the size of a narrow picture', async () => {
    const narrow: RgbImage = { data: scene.data.slice(0, 37 * 21 * 3), width: 37, height: 21 };
    const before = narrow.data.slice();
    const once = await applyDistortion(narrow, type, 5.5, new Rng('fixed'));
    expect(await applyDistortion(narrow, type, 5.5, new Rng('fixed'))).toEqual(once);
    expect(narrow.data).toEqual(before);
    expect([once.width, once.height, once.data.length]).toEqual([37, 21, 37 * 21 * 3]);
  });
});

describe('the sets', () => {
  it('hold the numbers of types that the literature and the list of simulations name', () => {
    expect([new Set(KADID25).size, new Set(CAPTURE12).size]).toEqual([25, 12]);
    expect([new Set(SYNTHESIZED_DISTORTIONS).size, SYNTHESIZED_DISTORTIONS.length]).toEqual([40, 40]);
  });

  it('never test unseen types on seen ones', () => {
    for (const { seen, unseen } of Object.values(DISTORTION_SETS)) {
      expect(unseen.filter((type) => seen.includes(type))).toEqual([]);
    }
  });
});

describe('stated parameters', () => {
  const first = async (image: RgbImage, type: ExtraDistortion, level: number) => {
    const { data } = await applyDistortion(image, type, level, new Rng('fixed'));
    return [...data.subarray(0, 3)];
  };
  const sameSign = new Rng('fixed').uniform() < 0.5 ? -1 : 1;

  it('brightens and darkens by a gamma', async () => {
    expect(
      await first(
        paint(() => [64, 0, 255]),
        'brightening',
        3,
      ),
    ).toEqual([Math.round(255 * (64 / 255) ** 0.51), 0, 255]);
    expect((await first(flat, 'darkening', 2))[0]).toBe(Math.round(255 * (128 / 255) ** 1.75));
  });

  it('shifts the mean by 44 at level 3', async () => {
    expect(await first(flat, 'meanShift', 3)).toEqual(grey(128 + sameSign * 44));
  });

  it('misexposes by 1.6 stops of linear light at level 3', async () => {
    const value = light(100) * 2 ** (sameSign * 1.6);
    expect(
      (
        await first(
          paint(() => grey(100)),
          'misexposure',
          3,
        )
      )[0],
    ).toBe(Math.round(255 * (1.055 * value ** (1 / 2.4) - 0.055)));
  });

  it('keeps the luma of a picture whose color it blurs, moves or drowns in noise', async () => {
    // Muted colors only: nothing clips, so luma moves by rounding alone.
    const muted = paint((x, y) => [110 + (x % 30), 120 + (y % 20), 130 - (x % 25)]);
    const before = planes(muted).y;
    for (const type of ['colorDiffusion', 'colorDisplacement', 'chromaNoise'] as const) {
      const after = planes(await applyDistortion(muted, type, 2, new Rng('fixed'))).y;
      expect(Math.max(...after.map((value, i) => Math.abs(value - before[i]!)))).toBeLessThanOrEqual(0.51);
    }
  });

  it('adds photon noise of variance x N + r^2 at the photosites', async () => {
    const { data } = await applyDistortion(flat, 'sensorNoise', 1, new Rng('fixed'));
    // Red photosites: even rows and columns. 1500 electrons at white, read noise 3.
    const seen: number[] = [];
    for (let y = 0; y < SIZE; y += 2)
      for (let x = 0; x < SIZE; x += 2) seen.push(light(data[(y * SIZE + x) * 3]!));
    const expected = Math.sqrt(light(128) * 1500 + 9) / 1500;
    // Four standard errors of a standard deviation over n = 2304.
    expect(Math.abs(std(seen) / expected - 1)).toBeLessThan(4 / Math.sqrt(2 * seen.length) + 0.01);
  });
});
