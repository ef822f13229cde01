import { appendFile, mkdir, mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { InputError, InterruptedError, Rng, silentProgress } from '../../../src/core/index.ts';
import { gaussianBlur } from '../../../src/data/distortions/blur.ts';
import { toImage, toRaster } from '../../../src/data/raster.ts';
import type { ImageRecord } from '../../../src/data/records.ts';
import { renderScene, SCENE_KINDS } from '../../../src/data/scenes.ts';
import { validateConfigSchema } from '../../../src/data/validate/config.ts';
import type { FindingKind } from '../../../src/data/validate/findings.ts';
import { validateDataset } from '../../../src/data/validate/validate.ts';

let root: string;
let folder: string;
let files: Buffer[];
let count = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'validate-'));
  files = await Promise.all(SCENE_KINDS.map((kind, i) => encoded(renderScene(new Rng(i), 64, kind).image)));
});
beforeEach(async () => {
  folder = join(root, `set-${++count}`);
  await mkdir(join(folder, 'images'), { recursive: true });
});
afterAll(() => rm(root, { recursive: true }));

const encoded = (
  { data, width, height }: { data: Uint8Array; width: number; height: number },
  quality = 90,
) =>
  sharp(data, { raw: { width, height, channels: 3 } })
    .jpeg({ quality })
    .toBuffer();

const record = (id: string, more: object = {}): ImageRecord => ({
  id,
  image: `images/${id}.jpg`,
  dataset: 'made',
  split: 'train',
  mos: 3,
  mosStd: null,
  raters: null,
  distortions: [],
  content: null,
  group: id,
  source: 'imported',
  generator: null,
  ...more,
});

/** Images by number of their scene (or bytes), and rows as they are or as text. */
async function write(images: Record<string, number | Buffer>, rows: (object | string)[]): Promise<void> {
  for (const [id, image] of Object.entries(images)) {
    await writeFile(join(folder, 'images', `${id}.jpg`), typeof image === 'number' ? files[image]! : image);
  }
  const lines = rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row)));
  await writeFile(join(folder, 'records.jsonl'), `${lines.join('\n')}\n`);
}

const validate = (settings: object = {}, options = {}) =>
  validateDataset(validateConfigSchema.parse({ data: folder, ...settings }), options);

/** Kinds that were found, with the messages. */
async function found(settings: object = {}): Promise<Partial<Record<FindingKind, string[]>>> {
  const messages: Partial<Record<FindingKind, string[]>> = {};
  for (const { kind, message } of (await validate(settings)).findings) {
    messages[kind] = [...(messages[kind] ?? []), message];
  }
  return messages;
}

it('finds nothing in a sound set and counts it', async () => {
  await write({ a: 0, b: 1, c: 2 }, [
    record('a'),
    record('b', { split: 'test', mos: 2 }),
    record('c', { mos: null }),
  ]);
  expect(await validate()).toMatchObject({
    images: 3,
    splits: { train: 2, test: 1 },
    labels: 2,
    problems: 0,
    warnings: 0,
    findings: [],
    decoded: 3,
  });
});

describe('images', () => {
  it('are decoded, not only there: cut, empty, of another format, missing', async () => {
    await write(
      { cut: files[0]!.subarray(0, 900), empty: Buffer.alloc(0), text: Buffer.from('no picture') },
      [record('cut'), record('empty'), record('text'), record('gone')],
    );
    const {
      'broken-image': broken,
      'missing-image': missing,
      ...others
    } = await found({
      ignore: ['constant-labels'],
    });
    expect(broken).toHaveLength(3);
    expect(broken![0]).toMatch(/^cut: images\/cut\.jpg: it is broken: /);
    expect(broken![1]).toBe('empty: images/empty.jpg: it is empty (0 bytes)');
    expect(broken![2]).toMatch(/it is not an image that can be read/);
    expect(missing).toEqual(['gone: there is no images/gone.jpg']);
    expect(others).toEqual({});
  });

  it('that would decode to too many pixels are named and not decoded', async () => {
    const bomb = await sharp({ create: { width: 3000, height: 2000, channels: 3, background: '#000' } })
      .png({ compressionLevel: 9 })
      .toBuffer();
    await write({ bomb, a: 0 }, [record('bomb'), record('a', { mos: 2 })]);
    expect(await found({ pixelLimit: 1_000_000 })).toEqual({
      'decompression-bomb': [
        `bomb: images/bomb.jpg: 3000x2000 pixels in ${bomb.length} bytes; 1000000 pixels are allowed`,
      ],
    });
  });

  it('called otherwise in upper and lower case are named with the name of the file', async () => {
    await write({ Photo: 0, b: 1 }, [record('photo', { mos: 2 }), record('b')]);
    expect(await found()).toEqual({
      'case-mismatch': ['photo: the record says images/photo.jpg, the file is images/Photo.jpg'],
    });
    await write({}, [record('b', { image: 'IMAGES/b.jpg' }), record('Photo', { mos: 2 })]);
    expect(await found()).toEqual({
      'case-mismatch': ['b: the record says IMAGES/b.jpg, the file is images/b.jpg'],
    });
  });

  it('that cannot be opened as files are named with the reason', async () => {
    await write({ b: 1 }, [record('a'), record('b', { mos: 2 })]);
    await mkdir(join(folder, 'images/a.jpg'));
    expect(await found()).toEqual({ 'unreadable-image': ['a: images/a.jpg: it is not a file'] });
  });

  it('of a folder without records are looked at all the same', async () => {
    await writeFile(join(folder, 'images', 'a.jpg'), files[0]!);
    await writeFile(join(folder, 'images', 'b.png'), 'broken');
    const report = await validate();
    expect(report).toMatchObject({ images: 2, labels: 0, splits: {} });
    expect(report.counts['broken-image']).toBe(1);
  });

  it('must be somewhere', async () => {
    await expect(validate()).rejects.toBeInstanceOf(InputError);
    await expect(validate()).rejects.toThrow(/neither records.jsonl nor image files/);
  });
});

describe('labels', () => {
  it('out of range, not finite or text are named, and reading goes on', async () => {
    const nan = JSON.stringify(record('nan', { mos: 'X' })).replace('"X"', 'NaN');
    await write({ a: 0, b: 1, nan: 2, text: 3, scale: 4 }, [
      record('a', { mos: 5.2 }),
      record('b', { mosStd: -1 }),
      nan,
      record('text', { mos: '3.1' }),
      record('scale', { mosSource: { value: 120, range: [0, 100], direction: 'higher' } }),
      '{"id": "cut", "image',
    ]);
    expect(await found({ ignore: ['constant-labels'] })).toEqual({
      'label-out-of-range': [
        'a mos is 5.2, allowed is 1 to 5',
        'b mosStd is -1, allowed is 0 or more',
        'scale the score 120 lies outside its scale 0 to 100',
      ],
      'not-a-number': ['nan has NaN or Infinity among its values', 'text mos is the text "3.1"'],
      'bad-row': [expect.stringMatching(/^line 6 is not JSON/)],
    });
  });

  it('that are all equal are suspicious', async () => {
    await write({ a: 0, b: 1 }, [record('a'), record('b')]);
    expect(await found()).toEqual({ 'constant-labels': ['all 2 labels are 3'] });
  });

  it('that fall with sharpness give a hint, those that rise do not', async () => {
    const images: Record<string, Buffer> = {};
    const rows: ImageRecord[] = [];
    for (let i = 0; i < 36; i++) {
      const scene = toRaster(renderScene(new Rng(i % 6), 48, SCENE_KINDS[i % 6]!).image);
      images[`p${i}`] = await encoded(toImage(gaussianBlur(scene, Math.floor(i / 6) * 0.9)));
      rows.push(record(`p${i}`, { mos: 1 + Math.floor(i / 6) / 2 }));
    }
    const ignore = ['near-duplicate', 'duplicate'];
    await write(images, rows);
    expect((await found({ ignore }))['direction-hint']![0]).toMatch(
      /sharper images have lower scores \(SRCC -0\./,
    );
    await write(
      {},
      rows.map((row) => ({ ...row, mos: 6 - row.mos! })),
    );
    const right = await validate({ ignore });
    expect(right.findings).toEqual([]);
    expect(right.direction!.sharpness).toBeGreaterThan(0.25);
  });
});

describe('splits', () => {
  it('that share a group, a reference, a file or a look-alike are named', async () => {
    const alike = await sharp(files[4]).jpeg({ quality: 70 }).toBuffer();
    await write({ a: 0, b: 1, c: 2, d: 3, e: 0, f: 4, g: alike, h: 2 }, [
      record('a', { group: 'x' }),
      record('b', { group: 'x', split: 'test' }),
      record('c', { reference: 'r' }),
      record('d', { reference: 'r', split: 'validation' }),
      record('e', { split: 'test', mos: 2 }),
      record('f'),
      record('g', { split: 'test' }),
      record('h'),
    ]);
    const messages = await found();
    expect(messages).toEqual({
      'group-across-splits': [
        'group x lies in train (1) and test (1)',
        'reference r lies in train (1) and validation (1)',
      ],
      'duplicate-across-splits': ['equal files: a (train), e (test)'],
      duplicate: ['equal files: c (train), h (train)'],
      'near-duplicate-across-splits': [
        expect.stringMatching(/^f \(train\), g \(test\) differ in \d of 64 bits$/),
      ],
    });
  });

  it('do not mind look-alikes of one group in one split', async () => {
    const alike = await sharp(files[4]).jpeg({ quality: 70 }).toBuffer();
    await write({ a: 4, b: alike }, [record('a', { group: 'x' }), record('b', { group: 'x', mos: 2 })]);
    expect(await found()).toEqual({});
    await write({}, [record('a'), record('b', { mos: 2 })]);
    expect(Object.keys(await found())).toEqual(['near-duplicate']);
  });

  it('with an id twice are named', async () => {
    await write({ a: 0, b: 1 }, [record('a'), record('a', { image: 'images/b.jpg', mos: 2, group: 'b' })]);
    expect(await found()).toEqual({ 'repeated-id': ['a stands for 2 images'] });
  });
});

describe('the cache', () => {
  it('spares what is known, and not what has changed', async () => {
    await write({ a: 0, b: 1, c: 2 }, [record('a'), record('b', { mos: 2 }), record('c')]);
    expect((await validate()).decoded).toBe(3);
    expect((await validate()).decoded).toBe(0);
    await writeFile(join(folder, 'images/b.jpg'), files[3]!.subarray(0, 500));
    const third = await validate();
    expect([third.decoded, third.counts['broken-image']]).toEqual([1, 1]);
    expect((await validate({ reuse: false })).decoded).toBe(3);
  });

  it('asks the time of change too: a file of the same size may be another', async () => {
    await write({ a: 0 }, [record('a')]);
    await validate();
    const { atime, mtimeMs } = await stat(join(folder, 'images/a.jpg'));
    await writeFile(join(folder, 'images/a.jpg'), Buffer.alloc(files[0]!.length));
    expect((await validate()).counts['broken-image']).toBe(1);
    await utimes(join(folder, 'images/a.jpg'), atime, new Date(mtimeMs + 5000));
    expect((await validate()).decoded).toBe(1);
  });

  it('survives a kill in the middle of a line', async () => {
    await write({ a: 0, b: 1 }, [record('a'), record('b', { mos: 2 })]);
    await validate();
    const path = `${folder}-validation/cache.jsonl`;
    const [first] = (await readFile(path, 'utf8')).split('\n');
    await writeFile(path, `${first}\n${first!.slice(0, 40)}`);
    expect((await validate()).decoded).toBe(1);
    expect((await validate()).decoded).toBe(0);
  });

  it('keeps what was looked at when stopped', async () => {
    const rows = Array.from({ length: 40 }, (_, i) => record(`p${i}`, { mos: 1 + i / 20 }));
    await write(Object.fromEntries(rows.map(({ id }, i) => [id, i % 6])), rows);
    const controller = new AbortController();
    const progress = { ...silentProgress, update: (done: number) => void (done >= 10 && controller.abort()) };
    await expect(validate({}, { progress, signal: controller.signal })).rejects.toBeInstanceOf(
      InterruptedError,
    );
    const { decoded } = await validate();
    expect(decoded).toBeGreaterThan(0);
    expect(decoded).toBeLessThanOrEqual(30);
  });
});

describe('the report', () => {
  it('is one page with pictures inside and what strangers wrote escaped', async () => {
    const id = '<script>alert(1)</script>';
    await write({ a: 0, b: 0 }, [
      record('a', { id }),
      record('b', { id: 'b', split: 'test', mos: 2, group: '"><img src=x onerror=y>' }),
    ]);
    await validate();
    const page = await readFile(`${folder}-validation/report.html`, 'utf8');
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt; (train), b (test)');
    expect(page).not.toContain('<script');
    expect(page.match(/<img src="data:image\/jpeg;base64,/g)).toHaveLength(2);
    expect(page).not.toMatch(/(src|href)="(?!data:|#)/);
  });

  it('as JSON holds every finding', async () => {
    await write({ a: 0 }, [record('a', { mos: 9 }), record('gone')]);
    await appendFile(join(folder, 'records.jsonl'), '\n');
    const report = await validate();
    const written = JSON.parse(await readFile(`${folder}-validation/report.json`, 'utf8'));
    expect(written).toEqual(JSON.parse(JSON.stringify(report)));
    expect(written.problems).toBe(2);
  });
});

it('names a label that is missing or no number, which loading would refuse', async () => {
  const { mos: _, ...without } = record('a');
  await write({ a: 0, b: 1, c: 2, d: 3 }, [
    without,
    record('b', { mos: true }),
    record('c', { mosStd: 'wide' }),
    // Out of range is said once.
    record('d', { mos: 7 }),
  ]);
  const { 'bad-row': bad = [], 'label-out-of-range': outside } = await found();
  expect(bad.map((message) => message.slice(0, message.indexOf(':')))).toEqual([
    'a mos',
    'b mos',
    'c mosStd',
  ]);
  expect(outside).toEqual(['d mos is 7, allowed is 1 to 5']);
});
