import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/core/index.ts';
import { findField } from '../../../src/data/manifest/fields.ts';
import { ImageIndex } from '../../../src/data/manifest/image-index.ts';
import { loadManifest, parseManifest, shippedManifests } from '../../../src/data/manifest/index.ts';

const MINIMAL = {
  name: 'mine',
  title: 'Mine',
  about: 'x',
  kind: 'authentic',
  licence: 'x',
  citation: 'x',
  obtain: 'x',
  images: 'x',
  splits: 'none',
  forms: [
    {
      id: 'table',
      files: [{ file: 'a.csv' }],
      image: 'name',
      mos: 'mos',
      range: [0, 1],
      direction: 'higher',
    },
  ],
};

const problemsOf = (content: object): string => {
  try {
    parseManifest({ ...content }, 'm.yaml');
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message;
  }
  return '';
};

describe('shipped manifests', () => {
  it('covers the data sets and formats of the field', async () => {
    expect([...(await shippedManifests()).keys()].sort()).toEqual([
      'agiqa-1k',
      'agiqa-3k',
      'ava',
      'bid',
      'biq2021',
      'csiq',
      'flive',
      'kadid-10k',
      'kadis-700k',
      'koniq-10k',
      'live-challenge',
      'live-release2',
      'llama-factory',
      'ms-swift',
      'parquet',
      'pipal',
      'q-align',
      'q-insight',
      'spaq',
      'tid2013',
      'trl',
      'visualquality-r1',
    ]);
  });

  it('are all valid and called like their files', async () => {
    for (const name of (await shippedManifests()).keys()) expect((await loadManifest(name)).name).toBe(name);
  });

  it('calls DMOS lower-is-better for LIVE and CSIQ, and higher for the dmos column of KADID-10k', async () => {
    const directions = async (name: string, form: string) =>
      (await loadManifest(name)).forms.find(({ id }) => id === form)?.direction;
    expect(await directions('live-release2', 'realigned')).toBe('lower');
    expect(await directions('csiq', 'workbook')).toBe('lower');
    expect(await directions('kadid-10k', 'dmos')).toBe('higher');
  });

  it('gives every data set a range, and no exchange format one that its files do not fix', async () => {
    for (const name of (await shippedManifests()).keys()) {
      const { kind, forms } = await loadManifest(name);
      if (kind === 'exchange') continue;
      for (const form of forms) {
        const scored = form.mos !== null || form.mosFromVotes;
        expect([name, form.id, form.range !== undefined]).toEqual([name, form.id, scored]);
      }
    }
  });

  it('names the known ones when asked for another', async () => {
    await expect(loadManifest('koniq-1k')).rejects.toMatchObject({
      hint: expect.stringContaining('koniq-10k'),
    });
  });
});

describe('parseManifest', () => {
  it('accepts a minimal manifest', () => {
    expect(problemsOf(MINIMAL)).toBe('');
  });

  it('lays defaults under each form', () => {
    const { forms } = parseManifest(
      { ...MINIMAL, defaults: { std: { field: 'sd' }, mos: 'other' } },
      'm.yaml',
    );
    expect(forms[0]?.std?.field).toBe('sd');
    expect(forms[0]?.mos).toBe('mos');
  });

  const form = MINIMAL.forms[0]!;
  it.each([
    ['an unknown key', { ...MINIMAL, rnge: [0, 1] }, 'rnge'],
    ['an unknown key of a form', { ...MINIMAL, forms: [{ ...form, colums: {} }] }, 'colums'],
    [
      'a range turned round',
      { ...MINIMAL, forms: [{ ...form, range: [1, 0] }] },
      'lowest must be below highest',
    ],
    ['another direction', { ...MINIMAL, forms: [{ ...form, direction: 'up' }] }, 'direction'],
    ['a broken pattern', { ...MINIMAL, forms: [{ ...form, names: '(' }] }, 'not a regular expression'],
    ['no licence', { ...MINIMAL, licence: undefined }, 'licence'],
    [
      'two image rules',
      { ...MINIMAL, forms: [{ ...form, imageSequence: [{ template: '{i}', count: 1 }] }] },
      'exactly one of image',
    ],
    [
      'votes that are not there',
      { ...MINIMAL, forms: [{ ...form, mos: null, mosFromVotes: true }] },
      'mosFromVotes needs votes',
    ],
    ['an unknown pattern group', { ...MINIMAL, forms: [{ ...form, reference: '$ref' }] }, '$ref is no group'],
    ['two forms of one name', { ...MINIMAL, forms: [form, form] }, 'two forms are called table'],
  ])('refuses %s and names it', (_what, content, named) => {
    expect(problemsOf(content)).toContain(named);
  });
});

describe('findField', () => {
  it.each([
    ['a column', 'a', { a: ' x ' }, 'x'],
    ['a number as text', { template: '{image}.{n:04}' }, { image: 1600, n: 7 }, '1600.0007'],
    [
      'a group of a pattern',
      { column: 'id', pattern: '->(?<value>[\\d.]+)$' },
      { id: 'I01.png->4.57' },
      '4.57',
    ],
    ['a map without case', { column: 't', map: { JPEG: 'j' } }, { t: 'jpeg' }, 'j'],
    ['the first rule that finds one', [{ column: 'image' }, { column: 'img_path' }], { img_path: 'p' }, 'p'],
  ])('finds %s', (_what, field, cells, value) => {
    expect(findField(field, cells).value).toBe(value);
  });

  it('never guesses a value that the map lacks', () => {
    expect(findField({ column: 't', map: { a: 1 } }, { t: 'b' }).problem).toBe('"b" is none of a');
  });
});

describe('ImageIndex', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'index-'));
    for (const name of [
      'jp2k/img1.bmp',
      'wn/img1.bmp',
      'tid/I01_11_1.BMP',
      'tid/i25_01_2.png',
      'both/a.png',
      'both/A.PNG',
      'notes.txt',
    ]) {
      await mkdir(join(folder, name.split('/').slice(0, -1).join('/')), { recursive: true });
      await writeFile(join(folder, name), '');
    }
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each([
    ['its path', 'jp2k/img1.bmp', ['jp2k/img1.bmp']],
    ['a path of another folder', 'gblur/img1.bmp', []],
    ['a longer path', 'live/jp2k/img1.bmp', ['jp2k/img1.bmp']],
    ['a name that two folders have', 'img1.bmp', ['jp2k/img1.bmp', 'wn/img1.bmp']],
    ['another case', 'i01_11_1.bmp', ['tid/I01_11_1.BMP']],
    ['the same case first', 'a.png', ['both/a.png']],
    ['another extension', 'i25_01_2.bmp', []],
    ['what is no picture', 'notes.txt', []],
  ])('finds by %s', async (_what, label, found) => {
    expect((await ImageIndex.open(folder)).find(label)).toEqual(found);
  });

  it('finds converted images where that is allowed', async () => {
    expect((await ImageIndex.open(folder, { anyExtension: true })).find('I25_01_2.BMP')).toEqual([
      'tid/i25_01_2.png',
    ]);
  });
});
