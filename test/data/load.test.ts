import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError, InputError, type RgbImage, writeJsonl } from '../../src/core/index.ts';
import { encodePng } from '../../src/data/decode.ts';
import { duplicatesAcrossSplits, inParallel, loadDataset, loadPixels } from '../../src/data/load.ts';
import type { ImageRecord } from '../../src/data/records.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'load-'));
  await mkdir(join(folder, 'images'));
  for (const [name, value] of Object.entries({ a: 10, b: 20, c: 10 })) {
    const image = { data: Uint8Array.of(value, 0, 0), width: 1, height: 1 };
    await writeFile(join(folder, 'images', `${name}.png`), await encodePng(image));
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const record = (id: string, changes: Partial<ImageRecord> = {}): ImageRecord => ({
  id,
  image: `images/${id}.png`,
  dataset: 'mine',
  split: 'train',
  mos: 3,
  mosStd: null,
  raters: null,
  distortions: [],
  content: null,
  group: id,
  source: 'imported',
  generator: null,
  ...changes,
});

const load = async (...records: unknown[]) => {
  await writeJsonl(join(folder, 'records.jsonl'), records);
  return loadDataset(folder);
};

it('reads relative and absolute images in order', async () => {
  const absolute = join(folder, 'images', 'a.png');
  const { records } = await load(record('b'), record('z', { image: absolute }));
  const images = await loadPixels(records, folder, { concurrency: 2 });
  expect(images.map(({ data }) => data[0])).toEqual([20, 10]);
});

it('names the line of a bad row', async () => {
  const late = load(record('a'), { ...record('b'), mos: 5.5 });
  await expect(late).rejects.toThrow(/records\.jsonl:2 .*mos/);
});

it('refuses an empty set', async () => {
  await expect(load()).rejects.toThrow(/holds no images/);
});

it('refuses an id given twice', async () => {
  await expect(load(record('a'), record('a', { group: 'other' }))).rejects.toThrow(/the id a twice/);
});

it('refuses a group in two splits', async () => {
  const leaking = load(record('a', { group: 'g' }), record('b', { group: 'g', split: 'test' }));
  await expect(leaking).rejects.toThrow(/group g lies in both train and test/);
});

it('finds equal images in different splits, not within one', async () => {
  expect(await duplicatesAcrossSplits(await load(record('a'), record('c'), record('b')))).toEqual([]);
  const found = await duplicatesAcrossSplits(
    await load(record('a'), record('c', { split: 'test' }), record('b')),
  );
  expect(found.map(({ ids, splits }) => ({ ids, splits }))).toEqual([
    { ids: ['a', 'c'], splits: ['train', 'test'] },
  ]);
});

it('names the file of a picture that its user refuses, and keeps the kind of error', async () => {
  const { records } = await load(record('a'), record('b'));
  for (const Kind of [InputError, ConfigError]) {
    const prepare = (image: RgbImage): RgbImage => {
      if (image.data[0] === 20) throw new Kind('it is 20', { hint: 'make it 10' });
      return image;
    };
    await expect(loadPixels(records, folder, { prepare })).rejects.toMatchObject({
      name: Kind.name,
      message: `${join(folder, 'images', 'b.png')} cannot be used: it is 20`,
      hint: 'make it 10',
    });
  }
});

it('hands over what was made of each picture', async () => {
  const { records } = await load(record('a'), record('b'));
  const prepare = ({ data }: RgbImage): RgbImage => ({ data: data.map((v) => v + 1), width: 1, height: 1 });
  const images = await loadPixels(records, folder, { prepare });
  expect(images.map(({ data }) => data[0])).toEqual([11, 21]);
});

it('a folder that is no data set is an InputError that says how to make one', async () => {
  await expect(loadDataset(join(folder, 'nowhere'))).rejects.toMatchObject({
    code: 'INPUT',
    message: `${join(folder, 'nowhere')} is no data set folder: it has no records.jsonl`,
    hint: expect.stringContaining('q-ponder data import'),
  });
});

describe('work in parallel', () => {
  const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  it('throws the failure with the lowest index, though another came first', async () => {
    const failing = inParallel(4, 2, async (i) => {
      await later(i === 0 ? 20 : 1);
      throw new Error(`number ${i}`);
    });
    await expect(failing).rejects.toThrow('number 0');
  });

  it('begins nothing more after a failure', async () => {
    const begun: number[] = [];
    const failing = inParallel(10, 2, async (i) => {
      begun.push(i);
      await later(i === 1 ? 1 : 20);
      if (i === 1) throw new Error('stop');
    });
    await expect(failing).rejects.toThrow('stop');
    expect(begun).toEqual([0, 1]);
  });
});
