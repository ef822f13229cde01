import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { importCsv } from '../../src/data/import-csv.ts';
import { importCsvConfigSchema } from '../../src/data/import-csv-config.ts';
import { loadDataset } from '../../src/data/load.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'names-'));
  return () => rm(folder, { recursive: true, force: true });
});

/** An import of one score for each name, the folder holding these files. */
async function run(files: readonly string[], table: string | Uint8Array, settings: object = {}) {
  for (const name of files) {
    await mkdir(join(folder, 'images', name, '..'), { recursive: true });
    await writeFile(join(folder, 'images', name), name);
  }
  await writeFile(join(folder, 'table.csv'), table);
  const config = importCsvConfigSchema.parse({
    csv: join(folder, 'table.csv'),
    imageColumn: 'name',
    mosColumn: 'mos',
    imagesFolder: join(folder, 'images'),
    mosRange: [0, 100],
    output: join(folder, 'set'),
    validationShare: 0,
    testShare: 0,
    ...settings,
  });
  const summary = await importCsv(config);
  return { summary, ...(await loadDataset(config.output)) };
}

const COMPOSED = 'caf\u00e9.png';
const DECOMPOSED = 'cafe\u0301.png';

describe('image names of a table', () => {
  it.each([
    ['upper and lower case', 'Photo.PNG', 'photo.png', 'photo.png'],
    ['the Unicode form of macOS', DECOMPOSED, COMPOSED, COMPOSED],
    ['the Unicode form of others', COMPOSED, DECOMPOSED, DECOMPOSED],
    ['paths as Windows writes them', 'sub/a.png', 'sub\\a.png', 'sub/a.png'],
    ['a folder in another case', 'Sub/a.png', 'sub/A.png', 'sub/A.png'],
  ])('may differ from the file in %s', async (_what, file, name, id) => {
    const { records, images, summary } = await run([file], `name,mos\n${name},50\n`);
    expect(records[0]?.id).toBe(id);
    expect(images).toEqual([join(folder, 'images', file)]);
    expect(summary.notes[0]).toMatch(/^1 image name\(s\) are spelled otherwise/);
  });

  it('mean the file of the same spelling where there are two', async () => {
    const { images } = await run(['a.png', 'A.PNG'], 'name,mos\na.png,50\nA.PNG,20\n');
    expect(images).toEqual([join(folder, 'images', 'a.png'), join(folder, 'images', 'A.PNG')]);
  });

  it('that may mean two files are refused', async () => {
    await expect(run(['a.png', 'A.PNG'], 'name,mos\nA.png,50\n')).rejects.toThrow(
      /row 2: image A\.png may be .*(a\.png or .*A\.PNG|A\.PNG or .*a\.png)/,
    );
  });

  it('that mean one file in two spellings are listed twice', async () => {
    await expect(run(['a.png'], 'name,mos\na.png,50\nA.png,20\n')).rejects.toThrow(
      'row 3: image A.png is listed twice, first in row 2',
    );
  });

  it('may lie behind a link', async () => {
    await mkdir(join(folder, 'elsewhere'));
    await writeFile(join(folder, 'elsewhere', 'a.png'), 'a');
    await mkdir(join(folder, 'images'));
    await symlink(join(folder, 'elsewhere'), join(folder, 'images', 'part'));
    const { records } = await run([], 'name,mos\npart/a.png,50\n');
    expect(records.map(({ id }) => id)).toEqual(['part/a.png']);
  });
});

describe('text of a table', () => {
  const table = `name,mos\n${COMPOSED},50\n`;

  it.each([
    ['UTF-8', Buffer.from(table)],
    ['UTF-8 with a mark', Buffer.from(`\uFEFF${table}`)],
    ['UTF-16', Buffer.from(`\uFEFF${table}`, 'utf16le')],
    ['UTF-16 with the bytes swapped', Buffer.from(`\uFEFF${table}`, 'utf16le').swap16()],
  ])('in %s is read', async (_what, bytes) => {
    expect((await run([COMPOSED], bytes)).records[0]?.id).toBe(COMPOSED);
  });

  it.each([
    ['Latin-1', Buffer.from(table, 'latin1')],
    ['no text at all', Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')],
    ['zero bytes', Buffer.from('name,mos\na\0.png,1\n')],
  ])('in %s is refused', async (_what, bytes) => {
    await expect(run([COMPOSED], bytes)).rejects.toMatchObject({
      message: `${join(folder, 'table.csv')} is no text in UTF-8`,
      hint: expect.stringContaining('save it as UTF-8'),
    });
  });

  it.each([
    ['semicolons', ';'],
    ['tabs', '\t'],
    ['vertical bars', '|'],
  ])('may have %s between its cells', async (_what, sign) => {
    const { records } = await run(['a, b.png'], `name${sign}mos\na, b.png${sign}50\n`);
    expect(records.map(({ id, mos }) => [id, mos])).toEqual([['a, b.png', 3]]);
  });
});

describe('what a row may leave open', () => {
  it('is the spread, which is then unknown', async () => {
    const { records } = await run(['a.png', 'b.png'], 'name,mos,sd\na.png,50,10\nb.png,50,\n', {
      stdColumn: 'sd',
    });
    expect(records.map(({ mosStd }) => mosStd)).toEqual([expect.closeTo(0.4, 12), null]);
  });

  it('is not the score: lists and truth values are shown as they are', async () => {
    const rows = ['{"name":"a.png","mos":true}', '{"name":"b.png","mos":[4]}', '{"name":"a.png","mos":NaN}'];
    const csv = join(folder, 'rows.jsonl');
    await writeFile(csv, rows.join('\n'));
    await expect(run(['a.png', 'b.png'], '', { csv })).rejects.toThrow(
      /row 1: mos is "true", not a number\n {2}row 2: mos is "\[4\]", not a number\n {2}row 3: it is not JSON/,
    );
  });
});

it('says that a share of few images leaves a split empty', async () => {
  const { summary } = await run(['a.png'], 'name,mos\na.png,50\n', { testShare: 0.2 });
  expect(summary.notes).toContain('test is empty: there are too few images for a share of 0.2');
});
