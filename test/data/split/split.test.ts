import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError, InputError, Rng, writeJsonl } from '../../../src/core/index.ts';
import { loadDataset } from '../../../src/data/load.ts';
import type { ImageRecord, Split } from '../../../src/data/records.ts';
import { bundlesOf, drawSplit } from '../../../src/data/split/assign.ts';
import { splitConfigSchema } from '../../../src/data/split/config.ts';
import { splitDataset, splitHash } from '../../../src/data/split/split.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'split-'));
});
afterAll(() => rm(folder, { recursive: true }));

const record = (i: number, group: string, split: Split = 'train'): ImageRecord => ({
  id: `i${i}`,
  image: `pictures/${i}.png`,
  dataset: 'made',
  split,
  mos: 1 + (i % 5),
  mosStd: null,
  raters: null,
  distortions: [],
  content: null,
  group,
  source: 'imported',
  generator: null,
});

/** 81 references of 25 images each, as KADID-10k has at one level, and 4 images of the cross split. */
async function makeSet(name: string): Promise<string> {
  const rows = Array.from({ length: 81 * 25 }, (_, i) => record(i, `reference-${Math.floor(i / 25)}`));
  for (let i = 0; i < 4; i++) rows.push(record(5000 + i, 'apart', 'cross'));
  await writeJsonl(join(folder, name, 'records.jsonl'), rows);
  return join(folder, name);
}

const config = (settings: object) => splitConfigSchema.parse(settings);

describe('equal pictures under different ids', () => {
  /** Twelve images of groups of their own; 0 and 5 are one picture, and so are 7, 8 and 11. */
  const COPIES: Record<number, number> = { 5: 0, 8: 7, 11: 7 };
  async function makeCopies(name: string, splitOf: (i: number) => Split = () => 'train'): Promise<string> {
    const rows = Array.from({ length: 12 }, (_, i) => record(i, `g${i}`, splitOf(i)));
    await writeJsonl(join(folder, name, 'records.jsonl'), rows);
    await mkdir(join(folder, name, 'pictures'), { recursive: true });
    for (let i = 0; i < 12; i++) {
      await writeFile(join(folder, name, 'pictures', `${i}.png`), `picture ${COPIES[i] ?? i}`);
    }
    return join(folder, name);
  }

  it('lie on one side of every split, and it is said', async () => {
    const data = await makeCopies('copies');
    const output = join(folder, 'copies-split');
    const report = await splitDataset(config({ data, output, testShare: 0.4, repeats: 30 }));
    // Twelve images, of which two and three are one each.
    expect(report.bundles).toBe(9);
    expect(report.notes).toEqual([
      '5 images are equal byte for byte in 2 set(s); each set stays in one split',
    ]);
    for (const { folder: name } of report.splits) {
      const { records } = await loadDataset(join(output, name));
      const sideOf = (i: number) => records[i]!.split;
      expect([sideOf(5), sideOf(8), sideOf(11)]).toEqual([sideOf(0), sideOf(7), sideOf(7)]);
    }
  });

  it('count as images of their own where they are not to be read', async () => {
    const data = await makeCopies('unread');
    const settings = { data, output: join(folder, 'unread-split'), hashImages: false };
    expect(await splitDataset(config(settings))).toMatchObject({ bundles: 12, notes: [] });
  });

  it('are not known of files that are not there, and it is said', async () => {
    const data = await makeCopies('gone');
    await rm(join(data, 'pictures', '5.png'));
    const report = await splitDataset(config({ data, output: join(folder, 'gone-split') }));
    expect(report.bundles).toBe(10);
    expect(report.notes[1]).toMatch(/^1 image files are not there/);
  });

  it('are named where the official split has them on both sides', async () => {
    const data = await makeCopies('official-copies', (i) =>
      i < 6 ? 'train' : i < 8 ? 'validation' : 'test',
    );
    const output = join(folder, 'official-copies-split');
    const { notes } = await splitDataset(config({ data, output, rule: 'official' }));
    // 7 is for validation, 8 and 11 for testing; 0 and 5 are both for training.
    expect(notes).toEqual([
      'WARNING: 1 picture(s) lie in several official splits, equal byte for byte: i7, i8, i11',
    ]);
  });
});

describe('shares that leave a part empty', () => {
  it.each([
    [{ testShare: 0.001 }, 'split-01 would have no test images: 12 images in 12 groups, testShare 0.001'],
    [{ validationShare: 0.01 }, 'would have no validation images'],
    [{ testShare: 0.9, validationShare: 0.9 }, 'would have no train images'],
  ])('%j', async (shares, message) => {
    const rows = Array.from({ length: 12 }, (_, i) => record(i, `g${i}`));
    await writeJsonl(join(folder, 'few', 'records.jsonl'), rows);
    const output = join(folder, 'few-split');
    await expect(splitDataset(config({ data: join(folder, 'few'), output, ...shares }))).rejects.toThrow(
      message,
    );
    expect(await readdir(folder)).not.toContain('few-split');
  });
});

describe('splitDataset', () => {
  it('draws ten splits of whole groups: 16 of 81 references are the 20 % that come nearest', async () => {
    const data = await makeSet('kadid');
    const { splits, bundles } = await splitDataset(config({ data, output: join(folder, 'ten') }));
    expect(bundles).toBe(81);
    expect(splits.map(({ counts }) => counts)).toEqual(
      Array.from({ length: 10 }, () => ({ train: 65 * 25, validation: 0, test: 16 * 25, cross: 4 })),
    );
    expect(new Set(splits.map(({ sha256 }) => sha256)).size).toBe(10);
    // Each is a data set: loading refuses groups that lie in two splits, and the images are where they were.
    for (const split of splits) {
      const { records, images } = await loadDataset(join(folder, 'ten', split.folder));
      expect(resolve(images[7]!)).toBe(join(data, 'pictures/7.png'));
      const lines = records.map(({ id, split: part }) => `${id}\t${part}\n`).sort();
      expect(createHash('sha256').update(lines.join('')).digest('hex')).toBe(split.sha256);
    }
    const info = JSON.parse(await readFile(join(folder, 'ten', 'split-03', 'dataset.json'), 'utf8'));
    expect(info).toMatchObject({ name: 'made', split: { rule: 'group', seed: 0, repeat: 3 } });
    expect(info.split.sha256).toBe(splits[2]!.sha256);
  });

  it('gives the same splits for a seed, others for another, and the first k of more', async () => {
    const data = await makeSet('seeds');
    const hashes = async (output: string, settings: object) =>
      (await splitDataset(config({ data, output: join(folder, output), ...settings }))).splits.map(
        ({ sha256 }) => sha256,
      );
    const three = await hashes('a', { repeats: 3 });
    expect(await hashes('b', { repeats: 5 }).then((five) => five.slice(0, 3))).toEqual(three);
    expect(await hashes('c', { repeats: 3, seed: 1 })).not.toEqual(three);
  });

  it('keeps the official split and refuses a set without one', async () => {
    const rows = [record(1, 'a'), record(2, 'b', 'test'), record(3, 'c', 'validation')];
    await writeJsonl(join(folder, 'official', 'records.jsonl'), rows);
    const made = await splitDataset(
      config({ data: join(folder, 'official'), output: join(folder, 'kept'), rule: 'official' }),
    );
    expect(made.splits.map(({ sha256 }) => sha256)).toEqual([splitHash(rows)]);
    const data = await makeSet('plain');
    const run = splitDataset(config({ data, output: join(folder, 'none'), rule: 'official' }));
    await expect(run).rejects.toBeInstanceOf(InputError);
    await expect(run).rejects.toThrow(/no official split: all its images are in train$/);
  });

  it('refuses fewer groups than splits', async () => {
    await writeJsonl(join(folder, 'one', 'records.jsonl'), [record(1, 'a'), record(2, 'a')]);
    const run = splitDataset(config({ data: join(folder, 'one'), output: join(folder, 'x') }));
    await expect(run).rejects.toThrow(/1 group\(s\), too few for 2 splits/);
  });

  it('replaces its own splits and nothing else', async () => {
    const data = await makeSet('again');
    const output = join(folder, 'mine');
    await splitDataset(config({ data, output, repeats: 3 }));
    await splitDataset(config({ data, output, repeats: 1 }));
    expect(await readdir(output)).toEqual(['split-01', 'splits.json']);
    await writeFile(join(output, 'split-01', 'notes.txt'), 'precious');
    await expect(splitDataset(config({ data, output }))).rejects.toBeInstanceOf(ConfigError);
    expect(await readFile(join(output, 'split-01', 'notes.txt'), 'utf8')).toBe('precious');
  });

  it('takes repeats of the official split for a mistake', () => {
    const parsed = splitConfigSchema.safeParse({ data: 'a', output: 'b', rule: 'official', repeats: 10 });
    expect(parsed.error?.issues[0]?.message).toMatch(/the official split is one/);
  });
});

describe('bundles', () => {
  it('join a group and a reference through a third image', () => {
    const rows = [
      { group: 'a', reference: 'r' },
      { group: 'b' },
      { group: 'b', reference: 'r' },
      { group: 'c', reference: 's' },
    ];
    expect(bundlesOf(rows)).toEqual([[0, 1, 2], [3]]);
  });

  it('do not take a reference for a group of the same name', () => {
    expect(bundlesOf([{ group: 'x' }, { group: 'y', reference: 'x' }])).toEqual([[0], [1]]);
  });
});

describe('strata', () => {
  const rows = Array.from({ length: 100 }, (_, i) => ({ group: `g${i}`, mos: 1 + (4 * i) / 99 }));
  const draw = (strata: number, seed: number) =>
    drawSplit(rows, bundlesOf(rows), { test: 0.2, validation: 0.25, strata }, new Rng(seed));

  it('take the share from every band of MOS', () => {
    const splits = draw(5, 3);
    // Bands of 20: 4 test images each, and a quarter of the other 16 for validation.
    for (let band = 0; band < 5; band++) {
      const inside = splits.slice(20 * band, 20 * (band + 1));
      expect(inside.filter((split) => split === 'test').length).toBe(4);
      expect(inside.filter((split) => split === 'validation').length).toBe(4);
    }
  });

  it('without them bands differ', () => {
    const counts = Array.from(
      { length: 5 },
      (_, band) =>
        draw(1, 3)
          .slice(20 * band, 20 * (band + 1))
          .filter((split) => split === 'test').length,
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(20);
    expect(new Set(counts).size).toBeGreaterThan(1);
  });

  it('make up in the next band what one cannot give', () => {
    // Two bands of three single images: 0.6 of an image each; 1 of 6 is nearest to 1.2.
    const few = Array.from({ length: 6 }, (_, i) => ({ group: `g${i}`, mos: 1 + i / 2 }));
    const splits = drawSplit(few, bundlesOf(few), { test: 0.2, validation: 0, strata: 2 }, new Rng(1));
    expect(splits.filter((split) => split === 'test').length).toBe(1);
  });

  it('images without a score are split too', () => {
    const blank = Array.from({ length: 10 }, (_, i) => ({ group: `g${i}`, mos: null }));
    const splits = drawSplit(blank, bundlesOf(blank), { test: 0.2, validation: 0, strata: 3 }, new Rng(1));
    expect(splits.filter((split) => split === 'test').length).toBe(2);
  });
});

it('draws anew for a set whose splits leak, which nothing else reads', async () => {
  const data = join(folder, 'leaking');
  const rows = Array.from({ length: 10 }, (_, i) =>
    record(i, `g${Math.floor(i / 2)}`, i % 2 === 0 ? 'train' : 'test'),
  );
  await writeJsonl(join(data, 'records.jsonl'), rows);
  await expect(loadDataset(data)).rejects.toThrow(/g0 lies in both train and test/);
  const output = join(folder, 'mended');
  const { splits } = await splitDataset(config({ data, output, repeats: 1 }));
  // Five pairs: one of them is the 20 % for test.
  expect(splits[0]!.counts).toEqual({ train: 8, validation: 0, test: 2, cross: 0 });
  expect((await loadDataset(join(output, 'split-01'))).records).toHaveLength(10);
  const official = config({ data, output: join(folder, 'official-leak'), rule: 'official' });
  await expect(splitDataset(official)).rejects.toThrow(InputError);
});

it('refuses to draw nothing', () => {
  const parsed = splitConfigSchema.safeParse({ data: 'a', output: 'b', testShare: 0 });
  expect(parsed.error?.issues.map(({ path }) => path.join('.'))).toEqual(['testShare']);
  expect(
    splitConfigSchema.safeParse({ data: 'a', output: 'b', testShare: 0, validationShare: 0.1 }).success,
  ).toBe(true);
});
