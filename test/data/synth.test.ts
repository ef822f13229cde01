import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError, InputError, InterruptedError, silentProgress } from '../../src/core/index.ts';
import { CROSS_DISTORTIONS, TRAINING_DISTORTIONS } from '../../src/data/distortion-types.ts';
import { duplicatesAcrossSplits, loadDataset, loadPixels } from '../../src/data/load.ts';
import { imageRecordSchema, type Split } from '../../src/data/records.ts';
import { synthesize, synthesizeBatch } from '../../src/data/synth.ts';
import { synthesisConfigSchema } from '../../src/data/synth-config.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'synth-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const config = (output: string, settings: object = {}) =>
  synthesisConfigSchema.parse({
    output: join(folder, output),
    seed: 5,
    size: 48,
    counts: { train: 31, validation: 5, test: 9, cross: 7 },
    imagesPerScene: 3,
    ...settings,
  });

/** One hash over names and contents of a folder. */
async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for (const name of (await readdir(path, { recursive: true })).sort()) {
    if (name !== 'images') hash.update(`${name}\n`).update(await readFile(join(path, name)));
  }
  return hash.digest('hex');
}

describe('synthesize', () => {
  it('writes the same bytes with one process and with two', async () => {
    const one = await synthesize(config('one'), { workers: 1 });
    const two = await synthesize(config('two'), { workers: 2 });
    expect(await hashOf(two.output)).toBe(await hashOf(one.output));
    expect(await readdir(one.output)).toEqual([
      'contact-sheet.png',
      'dataset.json',
      'images',
      'records.jsonl',
    ]);
    expect((await readdir(join(one.output, 'images'))).length).toBe(52);
  });

  it('writes what synthesizeBatch returns', async () => {
    const { output } = await synthesize(config('batch'), { workers: 1 });
    const { records } = await loadDataset(output);
    const batch = await synthesizeBatch(config('batch'), 'train', 4, 9);
    expect(batch.map(({ record }) => record)).toEqual(records.slice(4, 9));
    expect(batch.map(({ image }) => image)).toEqual(await loadPixels(records.slice(4, 9), output));
    expect(await duplicatesAcrossSplits(await loadDataset(output))).toEqual([]);
  });

  it('gives other images for another seed', async () => {
    const [a] = await synthesizeBatch(config('x'), 'test', 0, 1);
    const [b] = await synthesizeBatch(config('x', { seed: 6 }), 'test', 0, 1);
    expect(a?.image).not.toEqual(b?.image);
  });

  it.each([1, 2])('leaves nothing when stopped, with %i processes', async (workers) => {
    const name = `stopped-${workers}`;
    const controller = new AbortController();
    const progress = { ...silentProgress, update: () => controller.abort() };
    const run = synthesize(config(name), { workers, progress, signal: controller.signal });
    await expect(run).rejects.toBeInstanceOf(InterruptedError);
    await expect(run).rejects.toThrow(/stopped at \d+ of 52 images; none were kept/);
    expect((await readdir(folder)).filter((entry) => entry.includes(name))).toEqual([]);
  });

  it('replaces an older data set and nothing else', async () => {
    await mkdir(join(folder, 'mine'));
    await writeFile(join(folder, 'mine', 'thesis.txt'), 'precious');
    await expect(synthesize(config('mine'), { workers: 1 })).rejects.toBeInstanceOf(ConfigError);
    expect(await readFile(join(folder, 'mine', 'thesis.txt'), 'utf8')).toBe('precious');

    const small = { counts: { train: 2, validation: 0, test: 0, cross: 0 } };
    const first = await synthesize(config('again', small), { workers: 1 });
    const second = await synthesize(config('again', { ...small, seed: 9 }), { workers: 1 });
    expect(second.recordsSha256).not.toBe(first.recordsSha256);
    expect((await loadDataset(second.output)).records[0]?.generator?.seed).toBe(9);
  });

  it.each([
    ['notes.txt', 'it holds notes.txt, which this command did not write'],
    ['images/mine.png', 'it holds images/mine.png, which this command did not write'],
    ['records.jsonl', 'records.jsonl was changed since it was written'],
  ])('an older data set with %s of the user is not replaced', async (name, reason) => {
    const output = name.replace(/\W/g, '-');
    const small = { counts: { train: 2, validation: 0, test: 0, cross: 0 } };
    await synthesize(config(output, small), { workers: 1 });
    await appendFile(join(folder, output, name), 'precious\n');
    await expect(synthesize(config(output, small), { workers: 1 })).rejects.toMatchObject({
      exitCode: 2,
      message: `${join(folder, output)} will not be replaced: ${reason}`,
    });
    expect(await readFile(join(folder, output, name), 'utf8')).toMatch(/precious\n$/);
  });

  it('what is put into the folder while images are made is not replaced', async () => {
    const small = { counts: { train: 2, validation: 0, test: 0, cross: 0 } };
    const { output } = await synthesize(config('meanwhile', small), { workers: 1 });
    const progress = { ...silentProgress, update: () => writeFileSync(join(output, 'late.txt'), 'precious') };
    await expect(synthesize(config('meanwhile', small), { workers: 1, progress })).rejects.toThrow(
      'late.txt',
    );
    expect(await readFile(join(output, 'late.txt'), 'utf8')).toBe('precious');
  });

  it('photographs inside the output folder are refused', async () => {
    const photos = join(folder, 'album', 'photos');
    await expect(synthesize(config('album', { photos }), { workers: 1 })).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/^photos .* lies in the output folder/),
    });
  });

  it('refuses to make no images at all', async () => {
    const counts = { train: 0, validation: 0, test: 0, cross: 0 };
    await expect(synthesize(config('none', { counts }))).rejects.toThrow(/no image/);
  });
});

describe('the records', () => {
  const counts = { train: 156, validation: 13, test: 26, cross: 30 };
  const recordsOf = async (split: Split, settings: object = {}) => {
    const made = await synthesizeBatch(
      config('records', { counts, size: 32, ...settings }),
      split,
      0,
      counts[split],
    );
    return made.map(({ record }) => record);
  };

  it('pass the schema, which refuses unknown keys', async () => {
    const [record] = await recordsOf('validation');
    expect(imageRecordSchema.parse(record)).toEqual(record);
    expect(imageRecordSchema.safeParse({ ...record, colour: 1 }).success).toBe(false);
  });

  it('take the training types in turn', async () => {
    const settings = { pristineShare: 0, doubleDistortionShare: 0 };
    const types = (await recordsOf('train', settings)).map(({ distortions }) => distortions[0]?.type);
    for (const type of TRAINING_DISTORTIONS) expect(types.filter((name) => name === type).length).toBe(12);
  });

  it('hold unseen types in the cross split, and nowhere else', async () => {
    const cross = await recordsOf('cross');
    for (const { distortions } of cross) {
      expect(distortions.length).toBeGreaterThan(0);
      for (const { type } of distortions) expect(CROSS_DISTORTIONS).toContain(type);
    }
    for (const split of ['train', 'validation', 'test'] as const) {
      const types = (await recordsOf(split)).flatMap(({ distortions }) =>
        distortions.map(({ type }) => type),
      );
      for (const type of types) expect(TRAINING_DISTORTIONS).toContain(type);
    }
  });

  it('share scenes inside the training split only', async () => {
    const train = await recordsOf('train');
    expect(new Set(train.map(({ group }) => group)).size).toBe(52);
    const others = [
      ...(await recordsOf('validation')),
      ...(await recordsOf('test')),
      ...(await recordsOf('cross')),
    ];
    expect(new Set(others.map(({ group }) => group)).size).toBe(others.length);
    const shared = others.filter(({ group }) => train.some((record) => record.group === group));
    expect(shared).toEqual([]);
  });

  it('hold pristine and double distortions in the configured shares', async () => {
    const settings = { pristineShare: 0.3, doubleDistortionShare: 0.5 };
    const train = await recordsOf('train', settings);
    const n = train.length;
    const pristine = train.filter(({ distortions }) => distortions.length === 0).length;
    const double = train.filter(({ distortions }) => distortions.length === 2).length;
    expect(Math.abs(pristine - 0.3 * n)).toBeLessThan(4 * Math.sqrt(0.3 * 0.7 * n));
    expect(Math.abs(double - 0.35 * n)).toBeLessThan(4 * Math.sqrt(0.35 * 0.65 * n));
  });

  it('rate the slightly distorted well above the severely distorted', async () => {
    const train = await recordsOf('train', { doubleDistortionShare: 0 });
    const meanAt = (level: number) => {
      const scores = train
        .filter(({ distortions }) => distortions[0]?.level === level)
        .map(({ mos }) => mos ?? 0);
      return scores.reduce((sum, score) => sum + score, 0) / scores.length;
    };
    expect(meanAt(1)).toBeGreaterThan(4);
    expect(meanAt(5)).toBeLessThan(2.3);
  });
});

describe('photographs', () => {
  const photos = () => join(folder, 'photos');
  beforeAll(async () => {
    await mkdir(photos());
    for (let i = 0; i < 5; i++) {
      const background = { r: 40 * i, g: 100, b: 200 - 40 * i };
      await sharp({ create: { width: 150, height: 120, channels: 3, background } })
        .png()
        .toFile(join(photos(), `${i}.png`));
    }
    await writeFile(join(photos(), 'notes.txt'), 'not a photograph');
  });

  it('belong to one split each', async () => {
    const settings = { photos: photos(), photoShare: 1, size: 32, pristineShare: 1, imagesPerScene: 1 };
    const groups = new Map<string, Set<Split>>();
    for (const split of ['train', 'validation', 'test'] as const) {
      for (const { record } of await synthesizeBatch(config('p', settings), split, 0, 9)) {
        expect(record.source).toBe('photograph');
        groups.set(record.group, (groups.get(record.group) ?? new Set()).add(record.split));
      }
    }
    expect(groups.size).toBe(4);
    for (const splits of groups.values()) expect(splits.size).toBe(1);
  });

  it('keep their colours when cropped', async () => {
    const settings = { photos: photos(), photoShare: 1, size: 32, pristineShare: 1 };
    const [made] = await synthesizeBatch(config('p', settings), 'train', 0, 1);
    const i = Number(made?.record.group.replace(/\D/g, ''));
    expect([...(made?.image.data.subarray(0, 3) ?? [])]).toEqual([40 * i, 100, 200 - 40 * i]);
  });

  it('are refused when too small, by name', async () => {
    const run = synthesizeBatch(config('p', { photos: photos(), photoShare: 1, size: 112 }), 'train', 0, 1);
    await expect(run).rejects.toBeInstanceOf(InputError);
    await expect(run).rejects.toThrow(/\d\.png is 150x120, at least 160x160 is needed/);
  });

  it('are refused with the same code from another process', async () => {
    const settings = { photos: photos(), photoShare: 1, size: 112 };
    await expect(synthesize(config('pool', settings), { workers: 2 })).rejects.toMatchObject({
      code: 'INPUT',
      message: expect.stringMatching(/at least 160x160 is needed/),
    });
    expect((await readdir(folder)).filter((entry) => entry.includes('pool'))).toEqual([]);
  });

  it('are refused when there are none', async () => {
    await mkdir(join(folder, 'nothing'));
    const run = synthesizeBatch(config('p', { photos: join(folder, 'nothing') }), 'train', 0, 1);
    await expect(run).rejects.toThrow(/holds no photographs/);
  });
});

it('fails on unknown settings', () => {
  const parsed = synthesisConfigSchema.safeParse({ output: 'x', count: { train: 1 } });
  expect(parsed.error?.issues[0]?.message).toMatch(/count/);
});
