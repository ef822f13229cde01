import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError, InputError } from '../../src/core/index.ts';
import { encodePng } from '../../src/data/decode.ts';
import { importCsv, importCsvConfigSchema } from '../../src/data/import-csv.ts';
import { loadDataset, loadPixels } from '../../src/data/load.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'import-'));
  await mkdir(join(folder, 'images'));
  for (let i = 0; i < 10; i++) {
    const image = { data: Uint8Array.of(i, i, i), width: 1, height: 1 };
    await writeFile(join(folder, 'images', `p (${i}).png`), await encodePng(image));
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const run = async (table: string, settings: object = {}) => {
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
};

describe('importCsv', () => {
  it('rescales to 1..5', async () => {
    const { records } = await run('name,mos\np (0).png,0\np (1).png,100\np (2).png,25\n');
    expect(records.map(({ mos }) => mos)).toEqual([1, 5, 2]);
    expect(records[2]?.mosSource).toEqual({ value: 25, range: [0, 100], direction: 'higher' });
  });

  it('turns scales round where lower is better', async () => {
    const { records } = await run('name,mos\np (0).png,0\np (2).png,25\n', { direction: 'lower' });
    expect(records.map(({ mos }) => mos)).toEqual([5, 4]);
  });

  it('rescales deviations by the same factor', async () => {
    const { records } = await run('name,mos,sd\np (0).png,3,0.5\n', { stdColumn: 'sd', mosRange: [0, 10] });
    expect(records[0]?.mosStd).toBeCloseTo(0.2, 12);
  });

  it.each(['relative', 'absolute'] as const)('leaves the images in place, %s paths', async (paths) => {
    const { records } = await run('name,mos\np (7).png,1\n', { paths });
    expect((await loadPixels(records, join(folder, 'set')))[0]?.data[0]).toBe(7);
  });

  it('reads quoted cells, a byte order mark and unnamed columns', async () => {
    const { records } = await run('\uFEFF"name",mos,,\n"p (3).png","50",,\n');
    expect(records.map(({ id, mos }) => [id, mos])).toEqual([['p (3).png', 3]]);
  });

  it('keeps named splits and takes validation from training rows alone', async () => {
    const rows = Array.from({ length: 10 }, (_, i) => `p (${i}).png,${i},${i < 8 ? 'Train' : 'test'}`);
    const settings = { splitColumn: 'part', validationShare: 0.25 };
    const { summary, records } = await run(`name,mos,part\n${rows.join('\n')}\n`, settings);
    expect(summary.counts).toEqual({ train: 6, validation: 2, test: 2, cross: 0 });
    expect(records.filter(({ split }) => split === 'test').map(({ id }) => id)).toEqual([
      'p (8).png',
      'p (9).png',
    ]);
  });

  it('deals out validation and test by seed where there is no split column', async () => {
    const table = `name,mos\n${Array.from({ length: 10 }, (_, i) => `p (${i}).png,${i}`).join('\n')}\n`;
    const settings = { testShare: 0.3, validationShare: 0.3, seed: 4 };
    const { summary, records } = await run(table, settings);
    // Test 3 of 10, then validation 0.3 of the 7 left, rounded.
    expect(summary.counts).toEqual({ train: 5, validation: 2, test: 3, cross: 0 });
    expect((await run(table, settings)).records).toEqual(records);
  });

  const bad = [
    'name,mos',
    'p (0).png,50',
    'p (1).png,abc',
    'gone.png,3',
    'p (2).png,101',
    ',4',
    'p (0).png,9',
    'p (3).png,',
  ].join('\n');

  it('lists every bad row by its number', async () => {
    const error: unknown = await run(bad).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(InputError);
    const lines = (error as InputError).message.split('\n');
    expect(lines[0]).toMatch(/6 of 7 rows cannot be used/);
    expect(lines.slice(1)).toEqual([
      '  row 3: mos is "abc", not a number',
      `  row 4: image ${join(folder, 'images', 'gone.png')} cannot be read`,
      '  row 5: mos 101 lies outside 0 to 100',
      '  row 6: column name is empty',
      '  row 7: image p (0).png is listed twice',
      '  row 8: mos is "", not a number',
    ]);
  });

  it('skips bad rows when asked to, and says so', async () => {
    const { summary, records } = await run(bad, { badRows: 'skip' });
    expect(records.length).toBe(1);
    expect(summary.badRows.map(({ row }) => row)).toEqual([3, 4, 5, 6, 7, 8]);
  });

  it('names the columns when one is missing', async () => {
    const missing = run('file,score\na,1\n');
    await expect(missing).rejects.toThrow(/no column name/);
    await expect(missing).rejects.toMatchObject({ hint: 'its columns are file, score' });
  });

  it('refuses a table without rows and a missing table', async () => {
    await expect(run('name,mos\n')).rejects.toThrow(/no rows below its header/);
    await expect(run('name,mos\n', { csv: join(folder, 'none.csv') })).rejects.toMatchObject({
      code: 'STORAGE',
    });
  });

  it('does not write over a folder of other things', async () => {
    await expect(run('name,mos\np (0).png,1\n', { output: join(folder, 'images') })).rejects.toBeInstanceOf(
      ConfigError,
    );
  });
});

const biq = join(import.meta.dirname, '../../../shared/data/biq2021');
const present = existsSync(join(biq, 'subset.csv'));
if (!present) console.log('skipped: import of BIQ2021, shared/data/biq2021 is not there');

describe.runIf(present)('BIQ2021', () => {
  it('imports 1,000 training and 250 test photographs', async () => {
    const summary = await importCsv(
      importCsvConfigSchema.parse({
        csv: join(biq, 'subset.csv'),
        imageColumn: 'image',
        mosColumn: 'MOS',
        splitColumn: 'official_split',
        imagesFolder: join(biq, 'Images'),
        mosRange: [0, 1],
        output: join(folder, 'biq'),
      }),
    );
    expect(summary.counts).toEqual({ train: 900, validation: 100, test: 250, cross: 0 });
    const { records } = await loadDataset(join(folder, 'biq'));
    // The table's first two rows: 0.0000 and 0.0579.
    expect(records.slice(0, 2).map(({ id, mos }) => [id, mos])).toEqual([
      ['ss03 (1889).jpg', 1],
      ['ss03 (1992).jpg', 1 + 4 * 0.0579],
    ]);
    const [first] = await loadPixels(records.slice(0, 1), join(folder, 'biq'));
    expect([first?.width, first?.height]).toEqual([512, 512]);
  });
});
