import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { ConfigError, InputError } from '../../src/core/index.ts';
import { importManifest } from '../../src/data/import-manifest.ts';
import { importManifestConfigSchema } from '../../src/data/import-manifest-config.ts';
import { normalize } from '../../src/data/import-manifest-record.ts';
import { inspectDataset } from '../../src/data/inspect.ts';
import { loadDataset } from '../../src/data/load.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'manifest-'));
  await mkdir(join(folder, 'images'));
  return () => rm(folder, { recursive: true, force: true });
});

const put = async (name: string, content = name): Promise<void> => {
  await mkdir(join(folder, name, '..'), { recursive: true });
  await writeFile(join(folder, name), content);
};

/** Two references, one distortion, levels 1 to 3; DMOS from 0 to 100, lower better. */
const MANIFEST = `
name: mine
title: Mine
about: x
kind: synthetic
licence: CC0
citation: x
obtain: x
images: x
splits: none
forms:
  - id: table
    files: [{ file: labels.csv }]
    image: name
    mos: dmos
    range: [0, 100]
    direction: lower
    std: { field: var, is: variance }
    names: '^(?<ref>[a-z])_(?<level>\\d)'
    reference: { template: '{$ref}.png' }
    distortion: { constant: blur }
    level: $level
    exclude: [{ field: dmos, matches: '^-1$', why: references }]
`;
const LABELS =
  'name,dmos,var\na_1.png,10,4\na_2.png,50,9\na_3.png,100,0\nb_1.png,0,1\nb_2.png,60,1\nb_3.png,90,1\na.png,-1,0\n';
const IMAGES = ['a_1.png', 'A_2.PNG', 'a_3.png', 'b_1.png', 'b_2.png', 'b_3.png'];

async function run(settings: object = {}, { labels = LABELS, manifest = MANIFEST, images = IMAGES } = {}) {
  await put('mine.yaml', manifest);
  await put('labels.csv', labels);
  for (const name of images) await put(`images/${name}`);
  const config = importManifestConfigSchema.parse({
    manifest: join(folder, 'mine.yaml'),
    imagesFolder: join(folder, 'images'),
    output: join(folder, 'set'),
    testShare: 0.5,
    validationShare: 0,
    ...settings,
  });
  const summary = await importManifest(config);
  return { summary, ...(await loadDataset(config.output)) };
}

describe('normalize', () => {
  it.each([
    [0, 'higher', 1],
    [25, 'higher', 2],
    [100, 'higher', 5],
    [0, 'lower', 5],
    [25, 'lower', 4],
    [100.0005, 'higher', 5],
  ] as const)('brings %f of 0 to 100, %s better, to %f', (value, direction, mos) => {
    expect(normalize(value, { range: [0, 100], direction })).toBe(mos);
  });
});

describe('importManifest', () => {
  it('turns lower-is-better round and keeps what the set published', async () => {
    const { records } = await run();
    expect(records[0]).toMatchObject({
      id: 'a_1.png',
      dataset: 'mine',
      mos: 4.6,
      mosStd: 0.08,
      mosSource: { value: 10, range: [0, 100], direction: 'lower', std: 2 },
      reference: 'a.png',
      distortion: 'blur',
      level: 1,
      group: 'a.png',
      licence: 'CC0',
    });
  });

  it('leaves out what the manifest excludes, and counts it', async () => {
    const { summary } = await run();
    expect(summary.excluded).toEqual([{ why: 'references', images: ['a.png'] }]);
    expect(summary.rows).toBe(7);
  });

  it('finds images without case', async () => {
    const { images } = await run();
    expect(images.map((path) => path.slice(path.lastIndexOf('/') + 1))).toContain('A_2.PNG');
  });

  it('keeps the images of one reference in one split', async () => {
    const { records } = await run();
    expect(records.filter(({ split }) => split === 'test').map(({ group }) => group)).toHaveLength(3);
    expect(new Set(records.filter(({ split }) => split === 'test').map(({ group }) => group)).size).toBe(1);
  });

  it('gives the same data set for the same seed', async () => {
    await run();
    const first = await readFile(join(folder, 'set', 'records.jsonl'), 'utf8');
    await run();
    expect(await readFile(join(folder, 'set', 'records.jsonl'), 'utf8')).toBe(first);
  });

  it('names labels without images and images without labels', async () => {
    const images = [...IMAGES.slice(1), 'c_1.png'];
    await expect(run({}, { images })).rejects.toThrow(
      '1 of 7 rows cannot be used:\n  no image file: 1\n    labels.csv row 2: there is no image a_1.png',
    );
    const { summary } = await run({ badRows: 'skip' }, { images });
    expect(summary.problems.map(({ kind }) => kind)).toEqual(['no image file']);
    expect(summary.unlabelled).toEqual(['c_1.png']);
  });

  it.each([
    ['a score out of range', 'a_1.png,101,1', 'out of range'],
    ['a score that is no number', 'a_1.png,"5,0",1', 'not a number'],
    ['an empty score', 'a_1.png,,1', 'missing value'],
    ['a negative variance', 'a_1.png,5,-1', 'not a number'],
    ['an image that shows no reference', 'nothing.png,5,1', 'missing value'],
    ['an image that is listed twice', 'A_3.png,5,1', 'listed twice'],
    ['too many cells', 'a_1.png,5,1,9', 'broken row'],
  ])('refuses %s by its kind', async (_what, row, kind) => {
    const { summary } = await run(
      { badRows: 'skip' },
      { labels: LABELS.replace('a_1.png,10,4', '').concat(`${row}\n`) },
    );
    expect(summary.problems.map((problem) => problem.kind)).toEqual([kind]);
  });

  it('refuses a file that lacks a column, and says what it has', async () => {
    await expect(run({}, { labels: 'name,mos\na_1.png,1\n' })).rejects.toMatchObject({
      message: expect.stringContaining('has no column dmos (mos of form table)'),
      hint: expect.stringContaining('name, mos'),
    });
  });

  it('refuses the wrong direction where levels show it', async () => {
    const many = Array.from({ length: 8 }, (_, i) => String.fromCharCode(97 + i)).flatMap((ref) =>
      [1, 2, 3].map((level) => `${ref}_${level}.png,${20 * level},1`),
    );
    const labels = `name,dmos,var\n${many.join('\n')}\n`;
    const settings = { labelsOnly: true, labels: join(folder, 'labels.csv') };
    await expect(run({ ...settings, direction: 'higher' }, { labels })).rejects.toThrow(
      'a stronger distortion looks better in 24 of 24 pairs',
    );
    expect((await run(settings, { labels })).records).toHaveLength(24);
  });

  it('refuses equal files in different official splits', async () => {
    const manifest = `${MANIFEST}    split: part\n`;
    const labels = 'name,dmos,var,part\na_1.png,1,1,train\nb_1.png,2,1,test\n';
    await put('images/a_1.png', 'same');
    await put('images/b_1.png', 'same');
    await expect(run({}, { manifest, labels, images: [] })).rejects.toThrow('equal byte for byte');
  });

  it('refuses an unknown split name', async () => {
    const labels = 'name,dmos,var,part\na_1.png,1,1,holdout\n';
    await expect(run({}, { manifest: `${MANIFEST}    split: part\n`, labels })).rejects.toThrow(
      'split "holdout" is none of',
    );
  });

  it('marks labels whose images were not looked for', async () => {
    const { records } = await run({ labelsOnly: true }, { images: [] });
    expect(records.every(({ imageUnchecked }) => imageUnchecked === true)).toBe(true);
    expect(JSON.parse(await readFile(join(folder, 'set', 'dataset.json'), 'utf8'))).toMatchObject({
      imagesChecked: false,
    });
    expect((await inspectDataset(join(folder, 'set'))).unchecked).toBe(6);
  });

  it('does not replace a folder with anything else in it', async () => {
    await put('set/thesis.txt');
    await expect(run()).rejects.toBeInstanceOf(ConfigError);
  });

  it('asks for the scale where a format carries any', async () => {
    await put('meta.json', '[{"image":"a_1.png","gt_score":1}]');
    const settings = { manifest: 'q-align', form: 'gt-score', labels: join(folder, 'meta.json') };
    await expect(run(settings)).rejects.toThrow('the scale must be said');
  });

  it('takes the form whose columns are there where the file name leaves several, and else asks', async () => {
    const meta = join(folder, 'meta.json');
    const settings = { manifest: 'q-align', labels: meta };
    await put('meta.json', '[{"image":"a_1.png","gt_score":1}]');
    await expect(run(settings)).rejects.toThrow('carries scores of any scale');
    await put('meta.json', '[{"image":"a_1.png","gt_score_norm":2,"std_norm":1}]');
    expect((await run(settings)).summary.form).toBe('normalized');
    await put('meta.json', '[{"image":"a_1.png","score":1}]');
    await expect(run(settings)).rejects.toThrow('may be in several forms: gt-score, normalized');
  });

  it('reads unlabelled distorted images from their names', async () => {
    const { records } = await run({ manifest: 'kadis-700k' }, { images: ['p_q_01_03.bmp', 'p_q_25_05.bmp'] });
    expect(records).toMatchObject([
      { mos: null, reference: 'p_q', distortion: 'Gaussian blur', level: 3 },
      { mos: null, reference: 'p_q', distortion: 'contrast change', level: 5 },
    ]);
  });
});

describe('the forms of LIVE release 2', () => {
  it('counts image names by section and refuses files of different lengths', async () => {
    const rows = 982;
    await put('live/dmos.txt', Array.from({ length: rows }, (_, i) => `${i / 10}`).join('\n'));
    await put('live/orgs.txt', Array.from({ length: rows }, (_, i) => (i === 0 ? '1' : '0')).join('\n'));
    await put('live/ref_imnames.txt', Array.from({ length: rows }, () => 'bikes.bmp').join('\n'));
    const settings = { manifest: 'live-release2', labels: join(folder, 'live'), labelsOnly: true };
    const { records } = await run(settings);
    expect(records.find(({ mosSource }) => mosSource?.value === 22.7)).toMatchObject({ id: 'jpeg/img1.bmp' });
    expect(records.at(-1)?.id).toBe('fastfading/img174.bmp');
    await put('live/orgs.txt', '0\n0');
    await expect(run(settings)).rejects.toBeInstanceOf(InputError);
  });
});
